#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ftp_client.py PORT SIZE...: fetches the files of these names, each again and again for a while, from a server of FTP
on this machine, and prints "ftp_SIZE NANOSECONDS" of each transfer.

curl will not do: in FTP it now and then waits for a second, whatever the connection."""
import ftplib
import sys
import time

SECONDS = 0.2  # for each file
MOST = 40  # transfers: each leaves a port that waits for a minute, and the server looks for a free one
BLOCK = 1 << 16  # bytes that it reads at most
FEWEST = 3  # transfers, however long they take


def fetch(server, name):
    start = time.perf_counter_ns()
    server.retrbinary(f"RETR {name}", lambda _: None, BLOCK)
    return time.perf_counter_ns() - start


def main(port, *names):
    with ftplib.FTP() as server:
        server.connect("127.0.0.1", int(port))
        server.login()
        for name in names:
            end, done = time.monotonic() + SECONDS, 0
            while done < FEWEST or (done < MOST and time.monotonic() < end):
                print(f"ftp_{name} {fetch(server, name)}")
                done += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
