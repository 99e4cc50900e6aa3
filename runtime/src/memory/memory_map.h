/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory_map.h - what memory this process has.
 */
#ifndef SPLITC_MEMORY_MAP_H
#define SPLITC_MEMORY_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* True if n bytes there can be read, and written if that is asked.  What has been
 * unmapped since it was last asked for may still count. */
bool splitc_is_mapped(uint64_t address, uint64_t n, bool writable);

/* True if the address lies in the program's own file: code, constants or static
 * data, which are at one place in every process of the job. */
bool splitc_in_image(uint64_t address);

#endif
