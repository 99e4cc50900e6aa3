/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MICRO_BULK_H
#define MICRO_BULK_H

void raw_copy(void *to, const void *from, long bytes);

#endif
