// SPDX-License-Identifier: BSD-3-Clause
//
// pvc_suite.cc, by default over PDUs that the adapter cuts.
extern const bool pvc_raw_by_default = false;
