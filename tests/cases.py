"""Many small cases in one test: a test of its own costs more than most of them."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from experiments.core.problems import UserError

# Of a test that names what Linux and macOS have: paths, commands, signals, their own libraries.
not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="holds what POSIX has")


def in_one(
    names: str | tuple[str, ...],
    values: Iterable[Any],
    *,
    ids: Callable[[Any], str] | Iterable[str] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a test each of these values in turn, as `parametrize` does, and list all that fail.

    The cases share the fixtures of the test: for those that a case changes, there is `parametrize`.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    cases = [*values] if len(named) > 1 else [(value,) for value in values]
    labels = [repr(case)[:200] for case in cases]
    if callable(ids):
        labels = [str(ids(case[0])) for case in cases]
    elif ids is not None:
        labels = [*map(str, ids)]

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def whole(**fixtures: Any) -> None:
            failed: list[Exception] = []
            skipped = []
            for label, case in zip(labels, cases, strict=True):
                try:
                    test(**fixtures, **dict(zip(named, case, strict=True)))
                except pytest.skip.Exception as skip:
                    skipped.append(str(skip))
                except (ModuleNotFoundError, UserError):  # where PyTorch is missing, it is skipped
                    raise
                except Exception as error:  # noqa: BLE001 (all are shown)
                    error.add_note(f"in the case {label}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(cases)} cases", failed)
            if len(skipped) == len(cases):
                pytest.skip(skipped[0] if skipped else "no such case here")

        takes = inspect.signature(test)
        own = [each for name, each in takes.parameters.items() if name not in named]
        whole.__signature__ = takes.replace(parameters=own)  # type: ignore[attr-defined]
        return whole

    return decorated
