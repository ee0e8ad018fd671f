"""Cases of the order: lines as on an invoice, and what is there."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.checkup.order import order_of
from experiments.checkup.result import Word
from tests.experiments.checkup.made import Case, evidence, guest, workstation

GIB = 2**30


def bought(*lines: str, here=workstation):
    return lambda: evidence(here(), order=order_of("\n".join(lines)))


def without_modules(total_bytes: int):
    """A machine whose modules cannot be read."""
    here = workstation()
    memory = replace(here.memory, modules=(), total_bytes=total_bytes)
    return lambda: replace(here, memory=memory)


def line(word: Word, reason: str, text: str, here=workstation) -> Case:
    return Case("devices", word, reason, bought(text, here=here), text)


F, L, P, U = Word.FINE, Word.LOOK, Word.PROBLEM, Word.UNCHECKED
CASES = [
    line(F, "here", "AMD Ryzen 9 9950X3D"),
    line(F, "here", "2 x NVIDIA GeForce RTX 5090 32 GB"),
    line(F, "in_sum", "64 GB DDR5", without_modules(62 * GIB)),
    line(L, "nearly", "64 GB DDR5", without_modules(52 * GIB)),
    line(P, "less", "64 GB DDR5", without_modules(31 * GIB)),
    line(P, "less", "128 GB DDR5"),
    line(P, "less", "32 cores"),
    line(P, "less", "3 x NVIDIA GeForce RTX 5090"),
    line(L, "slower", "2 x 32 GB DDR5-8000"),
    line(L, "split", "4 x 16 GB DDR5"),
    line(L, "renamed", "Samsung PM9A1 2 TB"),
    line(P, "other", "AMD Ryzen 9 9950X"),
    line(P, "missing", "NVIDIA GeForce RTX 5090", lambda: replace(workstation(), gpus=())),
    Case("devices", U, "untold", bought("Noctua NH-D15"), "order"),
    Case("devices", U, "hidden", bought("RTX 5090", "Noctua NH-D15", here=guest), "order"),
]
