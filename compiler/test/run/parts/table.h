/* SPDX-License-Identifier: BSD-3-Clause */
1, 2,
3
