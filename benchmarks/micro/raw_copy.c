/* SPDX-License-Identifier: BSD-3-Clause
 *
 * raw_copy.c - memcpy, out of the compiler's sight.
 */
#include "bulk.h"

#include <string.h>

void raw_copy(void *to, const void *from, long bytes)
{
    memcpy(to, from, (size_t)bytes);
}
