/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.h - what the user and the program's sanitizers want of memory.
 */
#ifndef SPLITC_MEMORY_SETTINGS_H
#define SPLITC_MEMORY_SETTINGS_H

#include <stdbool.h>

/* Whether SPLITC_WINDOWS and SPLITC_HUGE_PAGES are not 0.  Errors end the job. */
bool splitc_windows_wanted(void);
bool splitc_huge_pages_wanted(void);

/* Whether a sanitizer is in the program: it decides itself on addresses, stacks and malloc. */
bool splitc_is_sanitized(void);

/* The same for those of threads and of uninitialised memory, which use most of the addresses. */
bool splitc_is_sanitized_low(void);

#endif
