"""`coreopsis completion SHELL`: a script that lets a shell complete commands, options and ids.

It is made of what the parser declares, and holds all that it offers: completing starts no program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

from app.context import NAME, Context, ExitCode
from app.parser import COMPLETES_IDS, commands, parser
from app.shells.manual import options_of

Offers = Mapping[str, Mapping[str, str]]  # by command, "" before one: each word, what it does


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Write the script of a shell to standard output."""
    sys.stdout.write(SCRIPTS[options.shell](offers(context.catalogue.ids())))
    return ExitCode.DONE


def offers(ids: Sequence[str]) -> Offers:
    """Return what can be completed where; `ids` are those of the experiments."""
    made = parser()
    known = commands(made)
    first = {name: command.description or "" for name, command in known.items()}
    found = {"": first | _options(made)}
    for name, command in known.items():
        found[name] = _options(command)
        if name in COMPLETES_IDS:
            found[name] |= dict.fromkeys(ids, "an experiment")
    found["completion"] |= dict.fromkeys(SCRIPTS, "a shell")
    return found


def _options(command: object) -> dict[str, str]:
    return {
        name: action.help or ""
        for action in options_of(command)
        for name in action.option_strings
        if name.startswith("--")
    }


def _bash(found: Offers) -> str:
    cases = "\n".join(
        f"    {name or _EMPTY}) offered='{' '.join(found[name])}' ;;" for name in found
    )
    return f"""_{NAME}() {{
  local command='' offered='' word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in {_either(found)}) command=$word; break ;; esac
  done
  case $command in
{cases}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _{NAME} {NAME}
"""


def _zsh(found: Offers) -> str:
    cases = []
    for name, words in found.items():
        said = (_quoted(f"{word}:{text}") for word, text in words.items())
        cases.append(f"    {name or _EMPTY}) offered=({' '.join(said)}) ;;")
    listed = "\n".join(cases)
    return f"""#compdef {NAME}
_{NAME}() {{
  local command='' word
  local -a offered
  for word in ${{words[2,CURRENT-1]}}; do
    case $word in {_either(found)}) command=$word; break ;; esac
  done
  case $command in
{listed}
  esac
  _describe {NAME} offered
  _files
}}
# Read as `_{NAME}` from a folder of $fpath, this file is the function itself at the first Tab.
if [[ $funcstack[1] == _{NAME} ]]; then _{NAME} "$@"; else compdef _{NAME} {NAME}; fi
"""


def _fish(found: Offers) -> str:
    lines = []
    for name, words in found.items():
        where = f"__fish_seen_subcommand_from {name}" if name else "__fish_use_subcommand"
        for word, text in words.items():
            what = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            said = text.replace("\\", "\\\\").replace("'", "\\'")
            lines.append(f"complete -c {NAME} -n '{where}' {what} -d '{said}'")
    return "\n".join((*lines, ""))


def _powershell(found: Offers) -> str:
    listed = "\n".join(
        f"    '{name}' = @({', '.join(map(_quoted, words))})" for name, words in found.items()
    )
    return f"""Register-ArgumentCompleter -Native -CommandName {NAME} -ScriptBlock {{
  param($word, $line, $at)
  $offered = @{{
{listed}
  }}
  $typed = $line.CommandElements | Select-Object -Skip 1 | ForEach-Object {{ "$_" }}
  $command = $typed | Where-Object {{ $_ -and $offered.ContainsKey($_) }} | Select-Object -First 1
  $offered["$command"] | Where-Object {{ $_ -like "$word*" }} | ForEach-Object {{
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }}
}}
"""


_EMPTY = "''"


def _either(found: Offers) -> str:
    return "|".join(filter(None, found))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


SCRIPTS: Mapping[str, Callable[[Offers], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
    "powershell": _powershell,
}
