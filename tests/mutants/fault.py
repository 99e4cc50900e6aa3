# SPDX-License-Identifier: BSD-3-Clause
"""A fault that tests should notice: a patch, what it would let happen, and who should notice.

LAYER/NAME.patch is plain lines before a unified diff:

    One sentence that says what the fault would let happen.
    Build: TARGET...
    Tests: REGEX

Build names what ninja builds; each Tests line is a stage, an expression for ctest -R, the cheapest
first.  Newer versions of Catch2's module put a blank behind the colon of a test's name, so write
`^a_test: ?one`.  A patch without these lines takes those of LAYER/suite.
"""
import collections
import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
WORD = re.compile(r"(Build|Tests): *(.*)")


class Malformed(Exception):
    """What is wrong with a fault's file, in one line."""


@dataclasses.dataclass
class Suite:
    """What has to be built, and the tests to run, in stages."""

    targets: list
    stages: list


@dataclasses.dataclass
class Fault:
    name: str  # LAYER/NAME
    sentence: str
    suite: Suite
    patch: str
    generated: bool = False

    def files(self):
        return re.findall(r"^\+\+\+ b/(\S+)", self.patch, re.MULTILINE)

    def line(self):
        """Of a fault that changes one line: file, the line before it, and itself, old and new."""
        hunks = self.patch[self.patch.index("\n@@"):]
        old, new = (collections.Counter(re.findall(rf"^{sign}(.*)", hunks, re.MULTILINE))
                    for sign in (r"-", r"\+"))
        (before, _), = (old - new).items()  # a diff may show lines between as gone and come
        (after, _), = (new - old).items()
        source = re.findall(r"^[ -](.*)", hunks, re.MULTILINE)
        above = [line.strip() for line in source[:source.index(before)]]
        return self.files()[0], (list(filter(None, above)) or [""])[-1], before.strip(), after.strip()

    def reason(self, reasons):
        """Why it makes no difference, if that is known (parse_explained)."""
        file, above, old, new = self.line()
        return reasons.get((file, above, old, new)) or reasons.get((file, None, old, new))

    def path(self, folder):
        return folder / (self.name.replace("/", "+") + ".patch")

    def write(self, folder):
        """Puts it where `saved_faults` finds it again."""
        header = [self.sentence, "Build: " + " ".join(self.suite.targets),
                  *(f"Tests: {stage}" for stage in self.suite.stages)]
        folder.mkdir(parents=True, exist_ok=True)
        self.path(folder).write_text("\n".join(header) + "\n\n" + self.patch)


def parse_header(text):
    """The plain lines and the suite that a header holds."""
    suite = Suite([], [])
    plain = []
    for line in text.splitlines():
        found = WORD.fullmatch(line.strip())
        if not found:
            plain.append(line.strip())
        elif found[1] == "Build":
            suite.targets += found[2].split()
        else:
            re.compile(found[2])
            if re.search(r"_test: [^?]", found[2]):
                raise Malformed("Tests: wants a blank behind a colon that only some versions of "
                                f"Catch2 put there; write ': ?': {found[2]}")
            suite.stages.append(found[2])
    return " ".join(filter(None, plain)), suite


def suite_of(path):
    """What the faults in a file or folder of the source are told by, unless they say otherwise: the
    suite of the nearest folder that has one."""
    for folder in (pathlib.PurePath(path), *pathlib.PurePath(path).parents):
        if folder.parts and (FOLDER / folder / "suite").exists():
            return parse_header((FOLDER / folder / "suite").read_text())[1]
    return Suite([], [])


def read(path):
    text = path.read_text()
    begin = text.find("diff --git ")
    name = f"{path.parent.name}/{path.stem}"
    if begin < 0:
        raise Malformed(f"{path}: holds no diff; make one with: git diff")
    try:
        sentence, suite = parse_header(text[:begin])
    except re.error as error:
        raise Malformed(f"{path}: Tests: is no regular expression: {error}") from error
    except Malformed as error:
        raise Malformed(f"{path}: {error}") from error
    common = suite_of(path.parent.name)
    suite = Suite(suite.targets or common.targets, suite.stages or common.stages)
    if not sentence or not suite.targets or not suite.stages:
        raise Malformed(f"{path}: lacks a sentence, a Build: or a Tests: line; see {__file__}")
    return Fault(name, sentence, suite, text[begin:])


def all_faults():
    return [read(path) for path in sorted(FOLDER.glob("*/*.patch"))]


def saved_faults(folder):
    """Generated ones that `Fault.write` put there."""
    found = [read(path) for path in sorted(folder.glob("*.patch"))]
    for fault in found:
        fault.name, fault.generated = fault.name.partition("/")[2].replace("+", "/"), True
    return found


def parse_explained(text):
    """The reason of each fault that LAYER/explained holds: file, -OLD LINE, +NEW LINE, reason; where
    the file has such a line twice, the line above it comes before them, behind a blank."""
    reasons = {}
    for part in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)):
        lines = part.strip().splitlines()
        if not lines:
            continue
        above = lines.pop(1)[1:].strip() if len(lines) > 1 and lines[1][:1] == " " else None
        if len(lines) < 4 or lines[1][:1] != "-" or lines[2][:1] != "+":
            raise Malformed(f"a fault is explained by its file, -OLD LINE, +NEW LINE and a reason, not by: {part}")
        key = (lines[0], above, lines[1][1:].strip(), lines[2][1:].strip())
        if key in reasons:
            raise Malformed(f"explained twice: {part}")
        reasons[key] = " ".join(line.strip() for line in lines[3:])
    return reasons


def explained(folder=None):
    """All reasons of all layers."""
    reasons = {}
    for path in sorted((folder or FOLDER).glob("*/explained")):
        try:
            reasons.update(parse_explained(path.read_text()))
        except Malformed as error:
            raise Malformed(f"{path}: {error}") from error
    return reasons
