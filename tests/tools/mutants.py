"""Break the product in 40 places, one at a time, and print which breaks the tests notice.

    python -m tests.tools.mutants [--only N ...] [--from N] [--to N] [--near-only] [--check]

Run it in a tree where nothing else runs: it changes the product's files, and restores them. It
works on the tree in the current folder. Each break is one snippet, which must occur exactly once
in the product; the script finds the file, so it survives that modules move. Tests that lie near
run first: those named after the module, then those that import it, then the whole suite.
A failure counts only if the same test passes without the break.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path.cwd()
PARTS = ("app", "widgets", "experiments", "machine")
LIMIT_S = 1800  # of one run of pytest; a break may make a loop endless
SUITE = ["-m", "not slow", "-n", "3", "--maxfail=1"]


class Break(NamedTuple):
    snippet: str
    instead: str


BREAKS = (
    # app
    Break("in noise and len(params) < 2", "in noise and len(params) <= 2"),
    Break("max(0.0, used_s - used_before_s)", "max(0.0, used_s)"),
    Break("usual / 2 <= value <= usual * 2", "usual / 2 <= value"),
    Break("if other.at > run.at", "if other.at < run.at"),
    Break("_path(path).replace(folder / ", "_path(path).exists() or (folder / "),
    Break(
        "numbers[-1] - numbers[0] + 1 == len(numbers)", "numbers[-1] - numbers[0] == len(numbers)"
    ),
    Break(
        "int(start / step_s), min(int(end / step_s) + 1, width)",
        "int(start / step_s), min(int(end / step_s), width)",
    ),
    Break(
        "return estimate_s * run.taken_s / experiment.seconds(before)",
        "return estimate_s * experiment.seconds(before) / run.taken_s",
    ),
    Break("event.t_s / speed - ", "event.t_s * speed - "),
    Break("if is_new and path.stat().st_size == 0:", "if not is_new and path.stat().st_size == 0:"),
    # widgets
    Break("if not lines or left + needed > width:", "if left + needed > width:"),
    Break("max(0, top - self.spacing() - rect.top())", "max(0, top - rect.top())"),
    Break(
        "in (1, 2, 5, 10) if power * step >= highest", "in (1, 5, 10) if power * step >= highest"
    ),
    Break("self.now_s + passed_s - t_s", "self.now_s - t_s"),
    Break(
        "math.ceil(len(cores) / math.ceil(len(cores) / most))",
        "math.ceil(len(cores) / (len(cores) // most or 1))",
    ),
    Break("end = space + 1 if is_word", "end = space if is_word"),
    Break("float(max(rates) if self.machine.nvswitch else sum(rates))", "float(sum(rates))"),
    Break("math.ceil((last - first + 1) / most)", "math.ceil((last - first - 1) / most)"),
    Break(
        "for stop in self.values[::-1] if stop < value", "for stop in self.values if stop < value"
    ),
    Break("self._since_s.pop(index, None)", "pass"),
    # experiments
    Break("if ones[here][1] < others[there][1]:", "if ones[here][1] > others[there][1]:"),
    Break("(elapsed_s - prepared_s) / (fraction - begin)", "elapsed_s / (fraction - begin)"),
    Break("- (after.own_s - before.own_s) - program_s", "- (after.own_s - before.own_s)"),
    Break("if other and other != told:", "if other:"),
    Break("in order else len(order) + others", "in order else others"),
    Break("math.ceil(count / self._caches)", "max(1, count // self._caches)"),
    Break("1 - sum(busy) / (sum(are_in) * step_s)", "1 - sum(busy) / (len(are_in) * step_s)"),
    Break("error * (kept[place + 1] > 0)", "error * (kept[place] > 0)"),
    Break(
        "(ordered[above] - ordered[below]) * (place - below)",
        "0.5 * (ordered[above] - ordered[below])",
    ),
    Break("if last - first > 1:", "if last - first > 0:"),
    # machine
    Break('"performance" if capacity >= steps[0]', '"performance" if capacity > steps[0]'),
    Break("tightest[0] & threads", "tightest[0] | threads"),
    Break("(1 - idle_fraction - (steal_fraction or 0.0), 1)", "(1 - idle_fraction, 1)"),
    Break("max(0, after - earlier) / (passed_s * 1000)", "max(0, after - earlier) / passed_s"),
    Break("errors=counts[2] + counts[10]", "errors=counts[2]"),
    Break("{version % 100:x}", "{version % 100}"),
    Break("sum(d.address not in common for d in", "sum(d.address in common for d in"),
    Break("suits = (major, minor) <= capability", "suits = (major, minor) == capability"),
    Break("if devices and held > len(devices):", "if devices and held >= len(devices):"),
    Break(
        "sum(uuid.startswith(name) for uuid in uuids) != 1",
        "sum(uuid.startswith(name) for uuid in uuids) == 0",
    ),
)


def main() -> int:
    """Print one line for each break, and the count; 1 if a snippet is lost or goes unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", type=int, nargs="+", help="the numbers of some breaks")
    parser.add_argument("--from", type=int, dest="first", default=1, help="the first break")
    parser.add_argument("--to", type=int, dest="last", default=len(BREAKS), help="the last one")
    parser.add_argument("--near-only", action="store_true", help="never run the whole suite")
    parser.add_argument("--suite-only", action="store_true", help="run the whole suite at once")
    parser.add_argument("--tests", nargs="+", help="run these tests, and no others")
    parser.add_argument("--check", action="store_true", help="only look for the snippets")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)  # so that the file is restored
    numbers = options.only or range(options.first, options.last + 1)
    noticed = lost = 0
    for number in numbers:
        found = _files(BREAKS[number - 1].snippet)
        if len(found) != 1:
            lost += 1
            _say(f"{number:2} LOST      {BREAKS[number - 1].snippet!r} is in {found or 'no file'}")
        elif options.check:
            _say(f"{number:2} {found[0]}: {BREAKS[number - 1].snippet}")
        else:
            begin_s = time.monotonic()
            stages = [] if options.suite_only else [["-x", *tests] for tests in _near(found[0])]
            layer = f"tests/{found[0].partition('/')[0]}"  # first: there it is noticed soonest
            stages += [] if options.near_only else [[*SUITE, layer, "tests"]]
            stages = [["-x", *options.tests]] if options.tests else stages
            test = _noticed_by(BREAKS[number - 1], found[0], stages)
            noticed += bool(test)
            took = f"{time.monotonic() - begin_s:.0f} s"
            _say(f"{number:2} {'noticed  ' if test else 'UNNOTICED'} {found[0]} {test} ({took})")
    if not options.check:
        _say(f"noticed {noticed} of {len(numbers)}; lost {lost}")
    return 1 if lost or (not options.check and noticed < len(numbers)) else 0


def _end(*_: object) -> NoReturn:
    sys.exit(143)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _files(snippet: str) -> list[str]:
    """Return the product's files with the snippet, each as often as it occurs there."""
    paths = (path for part in PARTS for path in sorted((ROOT / part).rglob("*.py")))
    texts = ((str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in paths)
    return [path for path, text in texts for _ in range(text.count(snippet))]


def _noticed_by(change: Break, path: str, stages: list[list[str]]) -> str:
    """Return the first test that fails with the break and passes without; "" if none does."""
    for stage in stages:
        ignored: list[str] = []  # they fail without the break as well
        while test := _broken(change, path, [*stage, *ignored]):
            if _passes(test):
                return test
            _say(f"   {test} fails without the break as well")
            ignored += ["--deselect", test]
            if test.startswith("?") or len(ignored) > 20:
                break
    return ""


def _near(path: str) -> list[list[str]]:
    """Return the test files named after the module, then those that import it."""
    *folders, name = path.removesuffix(".py").split("/")
    stems = {f"test_{name}", f"test_{folders[-1]}_{name}"}
    if name == "experiment" or len(folders) > 2:
        stems.add(f"test_{folders[-1]}")
    module = re.compile(rf"{'.'.join(folders)}(\.{name}\b| import ([\w, ]*\b)?{name}\b)")
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    named = [test for test in tests if test.stem in stems]
    importing = [t for t in tests if t not in named and module.search(t.read_text("utf-8"))]
    stages = [[str(test.relative_to(ROOT)) for test in some] for some in (named, importing)]
    return [stage for stage in stages if stage]


def _broken(change: Break, path: str, arguments: list[str]) -> str:
    file = ROOT / path
    text = file.read_text("utf-8")
    try:
        file.write_text(text.replace(change.snippet, change.instead), "utf-8")
        return _failed(arguments)
    finally:
        file.write_text(text, "utf-8")


def _passes(test: str) -> bool:
    return not test.startswith("?") and not _failed([test])


def _failed(arguments: list[str]) -> str:
    """Return the first test that fails, or that hung; "?..." if pytest ends badly without one."""
    command = [sys.executable, "-m", "pytest", "-v", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    try:
        done = subprocess.run(
            [*command, *arguments],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return "? pytest did not end"
    whole = re.search(r"^=+ \d+ passed(?!.*(failed|error)).* in .*=$", done.stdout, re.MULTILINE)
    if done.returncode in (0, 5) or whole:  # 5: no tests; Qt may still crash at the very end
        return ""
    for pattern in (
        r"^(?:FAILED|ERROR) (tests/\S+?::.*?)(?: - .*)?$",
        r"crashed while running '(tests/[^\n]+)'$",
        r"^ERROR (tests/\S+)",
        r"^(tests/\S+::.*?) *(?:FAILED|ERROR)",
    ):
        if found := re.search(pattern, done.stdout, re.MULTILINE):
            return str(found[1])
    if begun := re.findall(r"^(tests/\S+?::[^\n]*?) *$(?<!%\])", done.stdout, re.MULTILINE):
        return str(begun[-1])  # it hung: the process was ended
    return "? " + done.stdout.strip()[-200:].replace("\n", " | ")


if __name__ == "__main__":
    sys.exit(main())
