# SPDX-License-Identifier: BSD-3-Clause
"""The mean of numbers that are spread over all processors; interpreter.sc runs it."""
import ctypes

splitc = ctypes.CDLL(None)  # the program itself
splitc.my_part.restype = ctypes.POINTER(ctypes.c_double)
splitc.element.restype = splitc.all_add.restype = ctypes.c_double
splitc.all_add.argtypes = [ctypes.c_double]

me, procs, length = splitc.my_proc(), splitc.procs(), splitc.length()
mine = splitc.my_part()
for i in range(length):
    mine[i] = me * length + i  # memory of Split-C, without a copy
splitc.all_meet()
above = splitc.element((me + 1) % procs, 7)  # a neighbour's
mean = splitc.all_add(sum(mine[i] for i in range(length))) / (procs * length)
splitc.all_meet()
if above != (me + 1) % procs * length + 7:
    raise SystemExit(f"processor {me} read {above}")
if me == 0:
    print(f"the mean is {mean}")
