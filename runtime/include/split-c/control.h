/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control.h - the older name of split-c.h.
 */
#include <split-c/split-c.h>
