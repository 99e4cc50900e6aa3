# SPDX-License-Identifier: BSD-3-Clause
"""Split-C for gdb: shows global and spread pointers, steps over the runtime.

    gdb -iex "source $(splitcc -print-gdb)" ./program
"""

import gdb
import gdb.printing

ADDRESS_BITS = 48  # as in split-c/abi.h
TYPES = ("splitc_global", "splitc_spread")

# Where `step` does not go: files, and functions in them.
SKIPPED = (
    ("*split-c/*.h", "^splitc_"),
    ("*runtime/src/*", "^splitc_"),
    ("*runtime/src/*/*", "^(splitc|am)_"),
    ("*gam/src/*", "^gam_"),
)


class FarPointer:
    """A pointer to what some rank owns: that rank, and the address there."""

    def __init__(self, value):
        self.bits = int(value)

    def to_string(self):
        if self.bits == 0:
            return "NULL"
        rank, address = divmod(self.bits, 1 << ADDRESS_BITS)
        return "rank %d: %#x" % (rank, address)


class FarPointers(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("split-c")

    def __call__(self, value):
        shown = value.type.unqualified()
        while shown.code == gdb.TYPE_CODE_TYPEDEF:
            if shown.name in TYPES:
                return FarPointer(value)
            shown = shown.target().unqualified()
        return None


gdb.printing.register_pretty_printer(None, FarPointers(), replace=True)
for sources, functions in SKIPPED:
    gdb.execute("skip -gfi %s -rfu %s" % (sources, functions), to_string=True)
