/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fault.h - a segmentation fault or bus error tells what it was about.
 */
#ifndef SPLITC_FAULT_H
#define SPLITC_FAULT_H

/* From now on, one line says what was accessed and whose it is; then the rank dies of the
 * signal, as it would have anyway.  Handlers that are there already stay. */
void splitc_faults_watch(void);

#endif
