/* SPDX-License-Identifier: BSD-3-Clause
 *
 * com.h - collective functions, which split-c.h declares.
 */
#include <split-c/split-c.h>
