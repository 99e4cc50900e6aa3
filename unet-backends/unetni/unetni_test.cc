// SPDX-License-Identifier: BSD-3-Clause
//
// suite.cc over packet sockets.
extern const char *const wire_under_test = "packet";
extern const int mtu_under_test = 9000;
