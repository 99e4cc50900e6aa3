/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alone.h - whether a process that no PMIx server answers is alone.
 */
#ifndef SPLITC_ALONE_H
#define SPLITC_ALONE_H

/* Returns if it is.  Otherwise a launcher that does not speak PMIx has started several, each of
 * which would take itself for a whole job: ends the process.  One of them tells why, if there is a
 * way to agree which. */
void splitc_expect_alone(void);

#endif
