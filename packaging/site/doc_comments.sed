# SPDX-License-Identifier: BSD-3-Clause
#
# Makes the comments of a header those that Doxygen reads: the first one is about the file, one that
# begins a line is about what follows, and one behind code is about what stands in front of it.
1s,^/\* SPDX-License-Identifier:.*,/** @file,
1s,^// SPDX-License-Identifier:.*,/// @file,
/^\/\* -\{2,\}.*\*\/$/d
s,^\( *\)/\* ,\1/** ,
s,^\( *[^ /].*[^ ]\) */\* ,\1 /**< ,
