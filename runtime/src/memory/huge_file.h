/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPLITC_HUGE_FILE_H
#define SPLITC_HUGE_FILE_H

/* Open an empty file without a name.  Its memory comes in huge pages where a mapping of it is
 * advised to (MADV_HUGEPAGE), whatever the system does with other shared memory.  Returns a
 * descriptor for reading and writing, or -errno; it takes privileges or user namespaces. */
int splitc_huge_file(void);

#endif
