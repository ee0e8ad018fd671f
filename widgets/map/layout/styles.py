"""Styles for drawing cores, from roomy over dense to folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from widgets.map.layout.tree import Node, private_caches

FEW_CORES = 16  # up to this many, each core shows its own caches
LEAST_FOLDED = 8  # cores that a group shows before groups are folded
FEWER = (64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """Size of a thread's tile, in lines of text, and how much is shown at once."""

    tile: float
    bar: float = 1.0  # height of a shared cache, relative to what its title needs
    shows_caches: bool = False  # beside the threads of each core
    shows_numbers: bool = True  # each tile shows the number of its thread
    most_cores: int | None = None  # side by side in a group
    most_groups: int | None = None  # of cores in a package
    most_packages: int | None = None


LARGE = tuple(
    Style(tile=tile, bar=1.5, shows_caches=True) for tile in (12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.5)
)
ROOMY = tuple(Style(tile=tile, shows_caches=True) for tile in (5.0, 4.0, 3.3, 2.7, 2.2))
CLOSE = tuple(Style(tile=tile) for tile in (2.8, 2.4, 2.0, 1.7, 1.4, 1.1))
DENSE = tuple(Style(tile=tile, shows_numbers=False) for tile in (0.9, 0.75, 0.6))
FOLDED = Style(tile=1.1)


def styles(nodes: Sequence[Node]) -> list[Style]:
    """Return the styles to try, the largest first."""
    few = sum(len(node.cores) for node in nodes) <= FEW_CORES and bool(private_caches(nodes))
    return [*(LARGE + ROOMY if few else ()), *CLOSE, *DENSE, *_folded(nodes)]


def _folded(nodes: Sequence[Node]) -> Iterator[Style]:
    """Yield styles with fewer and fewer cores per group, then groups per package, then packages."""
    style = FOLDED
    cores = max(_most_cores(node) for node in nodes)
    for count in _fewer(cores, LEAST_FOLDED):
        yield (style := replace(style, most_cores=count))
    for count in _fewer(max(_most_groups(node) for node in nodes), 1):
        yield (style := replace(style, most_groups=count))
    for count in _fewer(len(nodes), 2):
        yield (style := replace(style, most_packages=count))
    for count in _fewer(min(cores, LEAST_FOLDED), 2):
        yield (style := replace(style, most_cores=count))


def _fewer(most: int, least: int) -> list[int]:
    return [count for count in FEWER if least <= count < most]


def _most_cores(node: Node) -> int:
    return max(map(_most_cores, node.children)) if node.children else len(node.cores)


def _most_groups(node: Node) -> int:
    return max([len(node.children), *map(_most_groups, node.children)])
