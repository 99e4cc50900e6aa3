// SPDX-License-Identifier: BSD-3-Clause
//
// pvc_suite.cc, by default over raw cells.
extern const bool pvc_raw_by_default = true;
