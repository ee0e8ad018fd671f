"""Completion and the manual page: all that is declared, as a shell and `man` take it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from app.parser import SHELLS, commands, parser
from app.shells.completion import SCRIPTS, offers
from app.shells.manual import manual, options_of

OFFERED = offers(["stream", "gil-threads"])


def completed(script: str, *words: str) -> list[str]:
    """Return what bash offers after these words, the last of which is being typed."""
    typed = " ".join(f"'{word}'" for word in words)
    program = f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _coreopsis"
    program += '; printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(
        ["bash", "-c", program], check=True, capture_output=True, text=True, timeout=60
    ).stdout.split()


def test_each_command_and_each_option_is_offered():
    known = commands(parser())
    assert known.keys() <= OFFERED[""].keys()
    for name, command in known.items():
        long = {s for a in options_of(command) for s in a.option_strings if s.startswith("--")}
        assert long <= OFFERED[name].keys()
    assert {"stream", "--quick"} <= OFFERED["run"].keys()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_options_and_experiments():
    script = SCRIPTS["bash"](OFFERED)

    assert completed(script, "coreopsis", "chec") == ["checkup", "check"]
    assert completed(script, "coreopsis", "run", "str") == ["stream"]
    assert completed(script, "coreopsis", "--debug", "run", "stream", "--qu") == ["--quick"]
    assert completed(script, "coreopsis", "completion", "f") == ["fish"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_others_take_their_script(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    subprocess.run([shell, "-n"], input=SCRIPTS[shell](OFFERED), text=True, check=True, timeout=60)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_takes_its_script_from_a_folder_too(tmp_path):
    """The first Tab reads the file as the function, and must offer something already."""
    (tmp_path / "_coreopsis").write_text(SCRIPTS["zsh"](OFFERED), encoding="utf-8")
    typed = f"""
        fpath=({tmp_path} $fpath); autoload -U compinit; compinit -u -D
        _describe() {{ print -l -- "${{(P@)2}}" }}; _files() {{ }}
        words=(coreopsis completion f); CURRENT=3; $_comps[coreopsis]
    """
    said = subprocess.run(
        ["zsh", "-f", "-c", typed], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    assert "fish:a shell" in said.splitlines()


def test_a_text_with_an_apostrophe_stays_one_word():
    offered = {"": {"run": "it's one"}}
    assert r"'run:it'\''s one'" in SCRIPTS["zsh"](offered)
    assert r"-d 'it\'s one'" in SCRIPTS["fish"](offered)


def test_each_shell_has_a_script(coreopsis):
    assert SCRIPTS.keys() == set(SHELLS)
    for shell in SHELLS:
        said = coreopsis("completion", shell)
        assert (said.code, said.err) == (0, "")
        assert "gil-threads" in said.out


def test_the_manual_page_has_every_command_and_option():
    page = manual("1.0")
    for name, command in commands(parser()).items():
        assert f".SS coreopsis {name}\n" in page
        for action in options_of(command):
            for option in action.option_strings:
                assert option.replace("-", "\\-") in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_groff_has_nothing_to_warn_of():
    said = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=manual("1.0"), text=True,
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert said.stderr == ""
