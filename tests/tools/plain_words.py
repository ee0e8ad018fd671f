"""Names words that are not plain, and counts those of the program.

`python -m tests.tools.plain_words [FILE...]` names each text that breaks a rule. It reads the words
of the program and of its experiments, lessons, README and the like, and first lines of docstrings.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests import ROOT

MOST_WORDS = 66_000  # of all texts, code apart
MOST_FINDING, MOST_SENTENCE = 40, 20  # words of a finding; of any sentence, values counted as one
NOT_SAID = {
    "a statement begins with a question word": (
        r"(?:^|[.!?:] )(?:Which|Whether|What|How|Where)\b[^?]*?\.(?: |$)"
    ),
    "tell": r"(?<!annot )\b[Tt]ell(?:s|ing)?\b|\b[Tt]old\b",
    "nobody, somebody": r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|[Aa]nybody)\b",
    "a pronoun without a noun": r"\b(?:the|that) one\b|\bso many\b|\bas much as that\b",
    "an idiom of another language": (
        r"\bstays? so\b|\blook after\b|\bturns? of the loop\b|\bdear(?:er|est)?\b|\bmiddle one\b"
    ),
    "two colons": r":\s[^.?!]*:\s",
    "one of many": r"(?<![\d.])1 (?:cores|workers|threads|jobs|processes)\b",
    "a multiple below 1": r"(?<![\d.])0\.\d+×",
}
# What such a text is, by its rule: at most ten, each with its reason.
EXCEPTIONS: dict[str, str] = {}
NO_TEXT = ("code", "right", "when", "view", "reached", "kind", "to", "answer", "sources")
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
ROOMS = ("app", "widgets", "experiments", "machine")


def words_files() -> list[Path]:
    """Return every file of words that the program shows."""
    names = ("words.en.toml", "lesson.en.toml")
    found = [path for name in names for path in (ROOT / "experiments").rglob(name)]
    return sorted([*(ROOT / "resources" / "text" / "en").glob("*.toml"), *found])


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every text of a file with its place; code and sources are none."""
    if path.suffix == ".toml":
        yield from _values(tomllib.loads(path.read_text(encoding="utf-8")), path.parent.name)
    elif path.suffix == ".md":
        plain = re.sub(
            r"```.*?```|`[^`\n]*`|<[^>]+>", "x", path.read_text(encoding="utf-8"), flags=re.S
        )
        for place, paragraph in enumerate(re.split(r"\n\s*\n|\n[-*|]", plain), 1):
            yield f"{path.name}, paragraph {place}", " ".join(paragraph.split())
    else:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(tree):
            if isinstance(node, kinds) and (said := ast.get_docstring(node)):
                line = getattr(node, "lineno", 1)
                yield f"{path.relative_to(ROOT)}:{line}", said.splitlines()[0]


def _values(tree: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield path, " ".join(tree.split())
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key not in NO_TEXT:
                yield from _values(value, f"{path}.{key}")
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from _values(value, f"{path}.{place}")


def broken(place: str, text: str) -> Iterator[str]:
    """Yield the rules that a text breaks."""
    if place in EXCEPTIONS:
        return
    yield from (rule for rule, wrong in NOT_SAID.items() if re.search(wrong, text))
    filled = re.sub(r"\{[^{}]*\}", "x", text)
    if ".finding" in place and len(filled.split()) > MOST_FINDING:
        yield f"a finding of more than {MOST_FINDING} words"
    if any(len(each.split()) > MOST_SENTENCE for each in re.split(r"(?<=[.?!:;])\s", filled)):
        yield f"a sentence of more than {MOST_SENTENCE} words"


def count(paths: Sequence[Path]) -> int:
    """Return the number of words of these files."""
    return sum(len(text.split()) for path in paths for _, text in texts(path))


def main(arguments: Sequence[str]) -> int:
    """Name what breaks a rule; return 1 if there is any."""
    files = words_files()
    asked = [Path(each).resolve() for each in arguments]
    pages = [ROOT / name for name in PAGES]
    code = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    found = [
        f"{place}: {rule}: {text[:160]}"
        for path in (asked or [*files, *pages, *sorted(code)])
        for place, text in texts(path)
        for rule in broken(place, text)
    ]
    sys.stdout.writelines(f"{each}\n" for each in found)
    total = count(files)
    sys.stdout.write(f"{len(found)} texts break a rule; {count(asked or files)} words")
    sys.stdout.write(
        f" of {total}, at most {MOST_WORDS}.\n" if asked else f", at most {MOST_WORDS}.\n"
    )
    return 1 if found or total > MOST_WORDS else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
