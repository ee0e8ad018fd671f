"""The cividis colour map, readable with every kind of colour vision.

Source: J. R. Nuñez, C. R. Anderton, R. S. Renslow, Optimizing colormaps with consideration for
color vision deficiency, PLOS ONE 13 (2018).
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor

from widgets.style.theme import ink_on

# Every fifteenth of 256; linear interpolation between them is within 2 %.
_CIVIDIS = (
    *("00204D", "002B67", "00356E", "28406C", "3D4A6B", "4D556C", "5B606E", "696B71", "767676"),
    *("848179", "928D78", "A19976", "B1A573", "C1B26D", "D1BF66", "E2CD5C", "F3DB4F", "FFEA46"),
)


@functools.cache
def cividis() -> npt.NDArray[np.uint32]:
    """Return 256 opaque colours as ARGB, from dark blue to yellow."""
    known = np.array([list(bytes.fromhex(colour)) for colour in _CIVIDIS], dtype=np.float64)
    places = np.linspace(0, 255, len(known))
    red, green, blue = (
        np.interp(np.arange(256), places, part).round().astype(np.uint32) for part in known.T
    )
    colours: npt.NDArray[np.uint32] = (0xFF << 24 | red << 16 | green << 8 | blue).astype(np.uint32)
    return colours


def shade(step: int) -> QColor:
    """Return the colour of one of the 256 steps."""
    return QColor.fromRgb(int(cividis()[step]))


@functools.cache
def inks() -> tuple[str, ...]:
    """Return for each step the colour of words on it, black or white."""
    return tuple(ink_on(shade(step)).name() for step in range(256))
