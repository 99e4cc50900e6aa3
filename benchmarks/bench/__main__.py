# SPDX-License-Identifier: BSD-3-Clause
"""python3 benchmarks/bench NAME [OPTIONS]: what `./dev bench NAME` starts; "check" in front of NAME only looks at
the options."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)
from bench import compare, driver  # pylint: disable=wrong-import-position


def main(name, arguments):
    if name == "compare":
        return compare.main(arguments)
    if name == "check":
        return driver.check(driver.load(arguments[0]), arguments[1:])
    return driver.main(driver.load(name), arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
