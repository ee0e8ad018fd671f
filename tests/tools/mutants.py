"""Break the product in 40 places, one at a time, and print which breaks the tests notice.

    python -m tests.tools.mutants [--only N ...] [--near-only] [--check]

Run it in a tree where nothing else runs: it changes the product's files, and restores them. It
works on the tree in the current folder. Each break is one snippet, which must occur exactly once in
the product; the script finds the file, so it survives that modules move. Tests that lie near run
first: those named after the module, then those that import it. The breaks that these let pass are
then made all at once for one run of the whole suite. The tests that fail there are tried with each
break alone. A failure counts only if the same test passes without the break.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path.cwd()
PARTS = ("app", "widgets", "experiments", "machine")
LIMIT_S = 1800  # of one run of pytest; a break may make a loop endless
SUITE = ["-m", "not slow", "-n", "3"]


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
    Break("tightest[0] & found", "tightest[0] | found"),
    Break("(1 - idle_fraction - (steal_fraction or 0.0), 1)", "(1 - idle_fraction, 1)"),
    Break("round(more / (passed_s * 1000), 4)", "round(more / passed_s, 4)"),
    Break('"errors": counts[2] + counts[10]', '"errors": counts[2]'),
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
    parser.add_argument("--near-only", action="store_true", help="never run the whole suite")
    parser.add_argument("--check", action="store_true", help="only look for the snippets")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)  # so that the file is restored
    numbers = options.only or range(1, len(BREAKS) + 1)
    places: dict[int, str] = {}  # of each break: its file
    for number in numbers:
        found = _files(BREAKS[number - 1].snippet)
        if len(found) == 1:
            places[number] = found[0]
        else:
            _say(f"{number:2} LOST      {BREAKS[number - 1].snippet!r} is in {found or 'no file'}")
    if options.check:
        for number, path in places.items():
            _say(f"{number:2} {path}: {BREAKS[number - 1].snippet}")
        return int(len(places) < len(numbers))
    passed = [number for number, path in places.items() if not _noticed(number, path, _near(path))]
    if passed and not options.near_only:
        _say(f"the whole suite, with these breaks at once: {passed}")
        failed = _failed(SUITE, {number: places[number] for number in passed})
        _say(f"{len(failed)} tests fail")
        passed = [n for n in passed if not failed or not _noticed(n, places[n], [failed])]
    _say(f"noticed {len(places) - len(passed)} of {len(numbers)}; not {passed}")
    return int(len(places) < len(numbers) or bool(passed))


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


def _noticed(number: int, path: str, stages: list[list[str]]) -> bool:
    """Does a test of these fail with the break, and pass without? Name the test."""
    begin_s = time.monotonic()
    for stage in stages:
        ignored: list[str] = []  # they fail without the break as well
        while failed := _failed(["-x", *stage, *ignored], {number: path}):
            test = failed[0]
            if not test.startswith("?") and not _failed([test], {}):
                _say(f"{number:2} noticed   {path} {test} ({time.monotonic() - begin_s:.0f} s)")
                return True
            _say(f"   {test} fails without the break as well")
            ignored += ["--deselect", test]
            if test.startswith("?") or len(ignored) > 20:
                break
    _say(f"{number:2} UNNOTICED {path} ({time.monotonic() - begin_s:.0f} s)")
    return False


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


def _failed(arguments: list[str], breaks: Mapping[int, str]) -> list[str]:
    """Return the tests that fail with these breaks; ["?..."] if pytest ends badly without one."""
    whole = {path: (ROOT / path).read_text("utf-8") for path in breaks.values()}
    times = {path: (ROOT / path).stat().st_mtime for path in whole}
    try:
        for number, path in breaks.items():
            text = (ROOT / path).read_text("utf-8")
            broken = text.replace(*BREAKS[number - 1])
            (ROOT / path).write_text(broken, "utf-8")
            # By its time and size Python knows whether what it compiled is still true.
            os.utime(ROOT / path, (times[path], times[path] + number))
        return _failing(arguments)
    finally:
        for path, text in whole.items():
            (ROOT / path).write_text(text, "utf-8")
            os.utime(ROOT / path, (times[path], times[path]))


def _failing(arguments: list[str]) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-v", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
    }
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
        return ["? pytest did not end"]
    whole = re.search(r"^=+ \d+ passed(?!.*(failed|error)).* in .*=$", done.stdout, re.MULTILINE)
    if done.returncode in (0, 5) or whole:  # 5: no tests; Qt may still crash at the very end
        return []
    for pattern in (
        r"^(?:FAILED|ERROR) (tests/\S+?::.*?)(?: - .*)?$",
        r"crashed while running '(tests/[^\n]+)'$",
        r"^ERROR (tests/\S+)",
        r"^(tests/\S+::.*?) *(?:FAILED|ERROR)",
    ):
        if found := re.findall(pattern, done.stdout, re.MULTILINE):
            return [*dict.fromkeys(found)]
    begun = re.findall(
        r"^(tests/\S+?::[^\n]*?)(?: Fatal Python error.*)? *$(?<!%\])", done.stdout, re.MULTILINE
    )
    if begun:
        return [str(begun[-1])]  # it hung or crashed: the process was ended
    return ["? " + done.stdout.strip()[-200:].replace("\n", " | ")]


if __name__ == "__main__":
    sys.exit(main())
