/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checks.h - what splitcc -fcheck adds to the library.
 */
#ifndef SPLITC_CHECKS_H
#define SPLITC_CHECKS_H

/* Turn the checks on, if some object of the program was compiled with -fcheck, or all were linked
 * with it. */
void splitc_checks_open(void);

#endif
