"""The linter of words notices what is not plain; `make lint` runs it over all texts."""

from __future__ import annotations

import pytest

from tests import ROOT
from tests.tools import plain_words
from tests.tools.plain_words import broken, main


def test_too_many_words_are_noticed(monkeypatch, capsys):
    page = str(ROOT / "README.md")
    assert main([page]) == 0, capsys.readouterr().out
    monkeypatch.setattr(plain_words, "MOST_WORDS", 1)
    assert main([page]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Which core it is stands below.",
        "The badge tells why.",
        "It needs two things: a core: and time.",
        f"{'word ' * 21}.",
    ],
)
def test_what_is_not_plain_is_noticed(text):
    assert list(broken("page.text", text))


def test_what_cannot_tell_may_say_so():
    assert not list(broken("page.text", "This run cannot tell."))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.md", "# Title\n\n- An item.\n- It tells why.\n"),
        ("code.py", 'X = 1\n\n\ndef f():\n    """Tell why."""\n'),
        ("code.py", '"""Says why.\n\n```\n{}\n```\n\nIt\ndoes.\n\nIt tells why.\n"""\n'),
        ("words.toml", '[about]\na = "Why."\n\nb = """\nIt tells\nwhy."""\n'),
    ],
)
def test_a_hit_has_its_file_line_and_rule(name, content, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(plain_words, "ROOT", tmp_path)
    (tmp_path / name).write_text(content)
    assert main([str(tmp_path / name)]) == 1
    line = 1 + next(n for n, each in enumerate(content.splitlines()) if "ell" in each)
    hit = capsys.readouterr().out.splitlines()[0]
    assert hit.startswith(f"{name}:{line}")
    assert ": tell: " in hit


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("code.py", '"""Calls `tell(why)` of a module."""\n'),
        ("page.md", f"| {'word ' * 15}| {'word ' * 15}|\n"),
    ],
)
def test_code_is_no_text_and_a_cell_of_a_table_is_one(name, content, tmp_path, monkeypatch):
    monkeypatch.setattr(plain_words, "ROOT", tmp_path)
    (tmp_path / name).write_text(content)
    assert main([str(tmp_path / name)]) == 0
