# SPDX-License-Identifier: BSD-3-Clause
"""What Rodrigues, Anderson and Culler print in High-Performance Local-Area Communication With Fast Sockets, USENIX
1997, of UltraSPARCs and, of its figures 8 and 9, what the text says."""

PAPER = "Rodrigues, Anderson, Culler: Fast Sockets (USENIX 1997), "
# Table 1: round trips, in us: for each byte and at 0 bytes by least squares, both up to 1 KiB, and of one byte.
ROUND_TRIPS = (("Fast Sockets, Myrinet", 0.068, 157.8, 0.124, 61.4, 57.8),
               ("Active Messages, Myrinet", 0.129, 38.9, 0.123, 45.4, 45.0),
               ("TCP/IP, Myrinet", 0.076, 736.4, 0.223, 533.0, 533.0),
               ("TCP/IP, Fast Ethernet", 0.174, 366.2, 0.242, 325.0, 326.0))
# Table 2: r_inf in MB/s, n_1/2 in bytes.
HALF_POWER = (("Fast Sockets, Myrinet", 32.9, 441), ("Active Messages, Myrinet", 39.2, 372),
              ("TCP/IP, Myrinet", 29.6, 2098), ("TCP/IP, Fast Ethernet", 11.1, 530))
# Table 3: the same, by program.
PROGRAMS = {"ttcp": (("Fast Sockets, Myrinet", 38.57, 560.7), ("TCP/IP, Myrinet", 19.59, 687.5)),
            "netperf": (("Fast Sockets, Myrinet", 41.57, 785.7), ("TCP/IP, Myrinet", 23.72, 1189))}
# Figure 8: transactions on one connection, and with a connection for each.
TRANSACTIONS = {"rtt": "faster than TCP/IP",
                "connect": "little or not faster, slower than over Fast Ethernet"}
# Figure 9: of files up to so many bytes.
FTP = ((4096, "about as TCP/IP"), (2 << 20, "clearly faster than TCP/IP"), (1 << 40, "both near the network's rate"))
