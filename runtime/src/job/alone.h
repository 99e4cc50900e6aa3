/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alone.h - whether a process that no PMIx server answers is alone.
 */
#ifndef SPLITC_ALONE_H
#define SPLITC_ALONE_H

/* Return if it is.  Otherwise a launcher that does not speak PMIx has started several processes,
 * each of which would be a job of its own: end the process.  Only the process of index 0 prints the
 * reason, where the launcher sets indices. */
void splitc_expect_alone(void);

#endif
