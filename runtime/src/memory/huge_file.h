/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPLITC_HUGE_FILE_H
#define SPLITC_HUGE_FILE_H

/* A file without a name and without bytes, open for reading and writing, whose memory comes
 * in huge pages where a mapping of it is advised to (MADV_HUGEPAGE), whatever the system
 * does with other shared memory.  Errors: -errno; it takes privileges or user namespaces. */
int splitc_huge_file(void);

#endif
