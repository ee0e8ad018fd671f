from __future__ import annotations

import pytest

from experiments.core.measured_loop import MOST_LINES, measured_loop
from tests.cases import in_one

LONG = "\n".join(f"    x = {n}" for n in range(MOST_LINES))
TEXT = f"""import x

@jit(
    cache=True)
def short():
    for _ in range(3):
        pass

class Pieces:
    def do(self):
        def inner():
            pass
        return 1

def long():
{LONG}
    while x:
        for _ in x:
            pass
    for _ in x:
        pass

async def waits():
    pass
"""
FILES = [("other.py", "def short(): pass\n"), ("one.py", TEXT)]


@in_one(
    ("name", "begin", "end"),
    [
        ("short", "@jit(", "        pass"),
        ("Pieces.do", "    def do(self):", "        return 1"),
        ("Pieces.do.inner", "        def inner():", "            pass"),
        ("waits", "async def waits():", "    pass"),
        ("long", "    while x:", "            pass"),
    ],
)
def test_a_loop_is_found_by_its_name_with_its_decorators(name, begin, end):
    loop = measured_loop(f"one.py:{name}", FILES)

    assert loop.file == "one.py"
    assert loop.text.splitlines() == TEXT.splitlines()[loop.first - 1 : loop.last]
    assert (loop.text.splitlines()[0], loop.text.splitlines()[-1]) == (begin, end)


@in_one(
    "place", ["", "one.py", "one.py:", "none.py:short", "one.py:do", "one.py:short.x", "other.py:l"]
)
def test_what_is_not_there_is_no_loop(place):
    assert measured_loop(place, FILES) is None


@pytest.mark.parametrize("text", ["def (", "print 'of Python 2'", "a\0b"])
def test_what_is_no_python_has_no_loop(text):
    assert measured_loop("odd.py:short", [("odd.py", text)]) is None
