"""Sums of numbers in turns with C, and their bytes against `sys.getsizeof`.

NumPy's must be as fast as C's on the same array, where both wait for memory: in a cache, the
vectors decide that each was compiled for. The interpreter's own work is in sums of lists and
arrays, so these only show how far apart they are.
"""

from __future__ import annotations

import contextlib
import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from experiments.core.bench import Bench
from experiments.core.units import show
from experiments.python_at_work.python_objects.experiment import (
    ARRAY,
    HELD,
    LIST,
    NUMPY,
    SET,
    SHUFFLED,
    TUPLE,
    Params,
    bytes_each,
    drawn,
    element_s,
    summed,
    times_for,
)
from machine.inspect import inspect
from tests.tools.bench.lines import Line, within
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("objects.c")
FLAGS = ("-O3",)  # for every processor, as NumPy is built
TURNS, FEW_TURNS = 21, 7
BUDGET = (0.9, 1.1)
LEAST, NUMBERS = 2**20, 2**22  # fewer fit into a cache
TWINS = {LIST: "list", SHUFFLED: "shuffled", ARRAY: "array"}


def lines() -> Iterator[Line]:
    yield from _bytes()
    compiler, bench = shutil.which("cc") or shutil.which("gcc"), Bench(inspect())
    with tempfile.TemporaryDirectory() as folder, bench.pinned() as thread:
        if compiler is None or thread is None:
            yield Line("objects against C", "no C compiler, or no core to be pinned to")
            return
        program = str(Path(folder) / "objects")
        subprocess.run([compiler, *FLAGS, "-o", program, str(SOURCE)], check=True)
        library = f"{program}.so"
        shared = [compiler, *FLAGS, "-shared", "-fPIC", "-o", library, str(SOURCE)]
        subprocess.run(shared, check=True)
        for length, way, held in summed(Params(most_numbers=NUMBERS)):
            if way == NUMPY and length >= LEAST:
                yield _numpy(held, ctypes.CDLL(library), bench)
            if way not in TWINS or length < NUMBERS:
                continue
            command = [program, TWINS[way], str(length), str(times_for(way, length)), str(thread)]

            def ours(_turn: int, way: str = way, held: tuple[Any, Any] = held) -> float:
                return element_s(way, held, bench)

            what = f"{way}, {length} numbers, ours against C"
            with _twin(command) as theirs:
                pairs = [(ours(turn), theirs(turn)) for turn in range(FEW_TURNS)]
            mine_s, its_s = (statistics.median(times) for times in zip(*pairs, strict=True))
            ratio = f"{mine_s / its_s:.1f}"
            yield Line(what, f"{show(mine_s, 's')} against {show(its_s, 's')}: {ratio}")


def _numpy(held: tuple[Any, Any], loops: ctypes.CDLL, bench: Bench) -> Line:
    """Compare NumPy's sum of an array with that of C."""
    array, loop = held[0], loops.block
    loop.argtypes, loop.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_double
    given, times = (array.ctypes.data, array.size), times_for(NUMPY, array.size)

    def theirs(_turn: int) -> float:
        loop(*given)  # as ours, once beforehand
        return bench.time(lambda: [loop(*given) for _ in range(times)]) / times / array.size

    def ours(_turn: int) -> float:
        return element_s(NUMPY, held, bench)

    what = f"numpy, {array.size} numbers, ours against C"
    return in_turns(what, ours, theirs, theirs, turns=TURNS, budget=BUDGET)


@contextlib.contextmanager
def _twin(command: list[str]) -> Iterator[Callable[[int], float]]:
    """Start the C program; what is yielded asks it once in each turn."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, stderr=subprocess.DEVNULL
    ) as program:
        said, asked = program.stdout, program.stdin
        assert said is not None
        assert asked is not None

        def ask(_turn: int) -> float:
            asked.write("\n")
            asked.flush()
            return float(said.readline())

        yield ask
        asked.close()


def _bytes() -> Iterator[Line]:
    """Yield the bytes of a number in each way, against those that each object says it takes."""
    numbers = drawn(Params(), 2**16)
    for way in HELD:
        held = HELD[way](numbers)
        objects = held if way in (LIST, TUPLE, SET) else ()
        told = (sys.getsizeof(held) + sum(map(sys.getsizeof, objects))) / len(held)
        mine = bytes_each(way, numbers)
        figure = f"{show(mine, 'bytes')} against {show(told, 'bytes')}: {mine / told:.3f}"
        kept = within(mine / told, *BUDGET)
        yield Line(f"bytes of a number, {way}, against sys.getsizeof", figure, "0.90 to 1.10", kept)
