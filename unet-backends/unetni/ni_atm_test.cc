// SPDX-License-Identifier: BSD-3-Clause
//
// suite.cc over an ATM switch.
extern const char *const wire_under_test = "atm";
extern const int mtu_under_test = 1500; // of interfaces that are not used
