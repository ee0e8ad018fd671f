"""The cividis colour map, readable with every kind of colour vision.

Source: J. R. Nuñez, C. R. Anderton, R. S. Renslow, Optimizing colormaps with consideration for
color vision deficiency, PLOS ONE 13 (2018).
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor

# Every fifteenth of 256; linear interpolation between them is within 2 %.
_CIVIDIS = (
    *("00204D", "002B67", "00356E", "28406C", "3D4A6B", "4D556C", "5B606E", "696B71", "767676"),
    *("848179", "928D78", "A19976", "B1A573", "C1B26D", "D1BF66", "E2CD5C", "F3DB4F", "FFEA46"),
)


@functools.cache
def cividis() -> npt.NDArray[np.uint32]:
    """Return 256 opaque colours as ARGB, from dark blue to yellow."""
    parts = _parts().round().astype(np.uint32)
    colours = 0xFF << 24 | parts[:, 0] << 16 | parts[:, 1] << 8 | parts[:, 2]
    return colours.astype(np.uint32)


def shade(step: int) -> QColor:
    """Return the colour of one of the 256 steps."""
    return QColor.fromRgb(int(cividis()[step]))


@functools.cache
def is_bright() -> npt.NDArray[np.bool_]:
    """Return for each step whether black has more contrast on it than white."""
    parts = _parts() / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    found: npt.NDArray[np.bool_] = (luminance + 0.05) ** 2 > 0.05 * 1.05  # more contrast with black
    return found


def _parts() -> npt.NDArray[np.float64]:
    known = np.array([list(bytes.fromhex(colour)) for colour in _CIVIDIS], dtype=np.float64)
    places = np.linspace(0, 255, len(known))
    return np.stack([np.interp(np.arange(256), places, known[:, part]) for part in range(3)], 1)
