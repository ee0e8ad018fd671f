"""Takes out of a report what names its owner: folders, user, host, domain and addresses.

Nothing is asked of the network for it.
"""

from __future__ import annotations

import contextlib
import getpass
import ipaddress
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

NOBODYS = ("", "root", "localhost")
PROGRAM = Path(__file__).parents[1]
SMALL = 2**16  # no address that is in use: `x[::2]` is none
RESOLVER = Path("/etc/resolv.conf")
# What lies there is the same on many machines.
OF_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/etc/", "/proc/", "/sys/", "/dev/")

_SHOWN = r"<(?:program|python|folder|user|host|domain|address)>"  # what stands instead
_ROOT = r"(?:file://)?(?:/(?=[\w.])|[a-z]:[\\/]|\\\\(?=\w))"
_RATE = r"/s(?!\w|[/.-]\w)"  # of "500 /s"
_PATH = re.compile(  # one in quotes may have blanks
    r"(?P<url>\b(?!file:)[a-z][a-z+.]*://[^\s\"']*)"
    rf"|(?<=[\"']){_ROOT}[^\"'\n]+(?=[\"'])"
    rf"|(?<![\w.~<>/\\)\]])(?!{_RATE}){_ROOT}[^\s\"'<>|*?,;:()\[\]{{}}]*",
    re.IGNORECASE,
)
_HARDWARE = re.compile(
    r"(?<![\w:-])[\da-f]{2}([:-])[\da-f]{2}(?:\1[\da-f]{2}){4,18}(?![\w:-])", re.I
)
_INTERNET = re.compile(
    r"(?<![\w:.])[\da-f]*:[\da-f]*:[\da-f:.]*(?:%[\w.-]+)?(?!\w)"
    r"|(?<![\w.-])\d+(?:\.\d+){3}(?!\.?\w|-[a-z])",  # no version of a kernel
    re.IGNORECASE,
)


def anonymous(text: str) -> str:
    """Return the text without personal folders, names and addresses."""
    return nameless()(text)


def nameless() -> Callable[[str], str]:
    """Return what does that for many texts: folders and names are looked up once."""
    folders = [
        (re.compile(rf"{re.escape(folder)}(?![\w-])"), shown) for folder, shown in _known_folders()
    ]
    names = _names()

    def without_names(text: str) -> str:
        for folder, shown in folders:
            text = folder.sub(shown, text)
        text = _PATH.sub(_folder, text)
        text = names.sub(lambda name: f"<{name.lastgroup}>" if name.lastgroup else name[0], text)
        return _INTERNET.sub(_address, _HARDWARE.sub("<address>", text))

    return without_names


def _known_folders() -> list[tuple[str, str]]:
    """Return the folders with a name of their own, the longest first."""
    known = [(PROGRAM, "<program>"), (Path(sys.prefix), "<python>")]
    known.append((Path(sys.base_prefix), "<python>"))
    with contextlib.suppress(RuntimeError):
        known.append((Path.home(), "~"))
    both = ((each, shown) for folder, shown in known for each in (folder, folder.resolve()))
    found = {said: shown for each, shown in both for said in (str(each), each.as_posix())}
    one_s_own = (pair for pair in found.items() if not f"{pair[0]}/".startswith(OF_SYSTEM))
    return sorted((pair for pair in one_s_own if len(pair[0]) > 3), key=_longest_first)  # no C:\


def _folder(match: re.Match[str]) -> str:
    path = match[0]
    if match["url"] or f"{path}/".startswith(OF_SYSTEM):
        return path
    name = re.split(r"[\\/]", path)[-1]
    return f"<folder>/{name}" if name.endswith(".py") else "<folder>"  # a trace needs the module


def _names() -> re.Pattern[str]:
    """Return what matches hosts of the domain, this host and the user: the longest first."""
    host, _, domain = platform.node().partition(".")
    found = [(host, rf"(?P<host>{re.escape(host)}(?:\.\w[\w-]*)*)")]
    with contextlib.suppress(Exception):  # the user may have no name
        user = getpass.getuser()
        found.append((user, rf"(?P<user>{re.escape(user)})"))
    patterns = [each for name, each in sorted(found, key=_longest_first) if name not in NOBODYS]
    domains = {domain, os.environ.get("USERDNSDOMAIN", ""), *_searched_domains()}
    if many := "|".join(re.escape(each) for each in domains if "." in each):
        patterns.insert(0, rf"(?P<domain>(?:[\w-]+\.)*(?:{many}))")
    return re.compile(rf"{_SHOWN}|(?<!\w)(?:{'|'.join(patterns) or '(?!)'})(?!\w)", re.IGNORECASE)


def _searched_domains() -> Iterator[str]:
    with contextlib.suppress(OSError, ValueError):
        for line in RESOLVER.read_text().splitlines():
            if line.startswith(("search", "domain")):
                yield from (name.rstrip(".") for name in line.split()[1:])


def _address(match: re.Match[str]) -> str:
    text, zone, _ = match[0].partition("%")
    for end in (len(text), len(text) - 1):  # a colon or stop behind it is none of it
        try:
            address = ipaddress.ip_address(text[:end])
        except ValueError:  # a time, a slice, a version
            continue
        is_nobodys = address.is_loopback or int(address) < SMALL
        return match[0] if is_nobodys else f"<address>{'' if zone else text[end:]}"
    return match[0]


def _longest_first(pair: tuple[str, str]) -> int:
    return -len(pair[0])
