# SPDX-License-Identifier: BSD-3-Clause
"""What all benchmarks share.

`./dev bench NAME` loads the driver NAME/NAME.py, which says what is measured (driver.py).  The
rest is done here: programs are started (runner.py) beside those of other libraries (peers.py), on
this machine or between two hosts (hosts.py), and what they print becomes results (results.py,
estimate.py), tables (table.py), and a report with plots (report.py, plots.py).
"""
