// SPDX-License-Identifier: BSD-3-Clause
//
// suite.cc over AF_XDP.  Packets of that length have drivers run the program themselves.
extern const char *const wire_under_test = "xdp";
extern const int mtu_under_test = 3400;
