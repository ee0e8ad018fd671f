"""A moment of a motion, in cells of the drawing: dots on their roads, light, counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from experiments.core.teaching.diagram import Box, Diagram, Line, Point, Role, Shape
from experiments.core.teaching.motion import Count, Hold, Motion, Scene, Travel
from machine.record import Record

NEAR = 0.5  # cells: a line that ends so near to a shape leads to it
BESIDE = 0.35  # cells: so far from a box with a label stands a dot that comes or leaves


class Moved(Record, kw_only=False):
    """A dot where it is now; its word stands above `top`, the shapes of a level road."""

    at: Point
    word: str
    role: Role
    top: float


class Marked(Record, kw_only=False):
    """A word beside a shape: what is held there, or how many there are by now."""

    shape: str
    word: str
    role: Role = "plain"


class Moment(Record, kw_only=False):
    """All that lies over one copy of the drawing."""

    lit: tuple[Marked, ...] = ()
    counts: tuple[Marked, ...] = ()
    dots: tuple[Moved, ...] = ()


class Moments:
    """The moments of a motion; roads are found once."""

    def __init__(self, diagram: Diagram, motion: Motion, texts: Mapping[str, str]) -> None:
        self._motion, self._texts = motion, texts
        ways = {event.along for event in motion.events() if isinstance(event, Travel)}
        self._roads = {along: _Road(diagram, along) for along in ways}

    def at(self, t_s: float) -> tuple[Moment, ...]:
        """Return what each scene shows at a moment."""
        return tuple(self._of_scene(scene, t_s) for scene in self._motion.scenes)

    def road(self, along: tuple[str, ...]) -> _Road:
        """Return the way of what travels along these shapes."""
        return self._roads[along]

    def word(self, key: str) -> str:
        """Return the text of a key; digits stand for themselves."""
        return self._texts.get(key, key)

    def _of_scene(self, scene: Scene, t_s: float) -> Moment:
        lit, counts, dots = list[Marked](), list[Marked](), list[Moved]()
        for event in scene.events:
            match event:
                case Travel() if _is_under_way(event, t_s):
                    road = self.road(event.along)
                    at, word = road.at(_share(event, t_s)), self.word(event.token)
                    dots.append(Moved(at, word, event.role, road.top))
                case Hold() if event.start_s <= t_s < event.end_s or self._is_last(event, t_s):
                    lit.append(Marked(event.shape, self.word(event.label), event.role))
                case Count():
                    word = self.word(event.label).replace("{n}", f"{event.at(t_s):,}")
                    counts.append(Marked(event.shape, word))
        return Moment(tuple(lit), tuple(counts), tuple(dots))

    def _is_last(self, event: Hold, t_s: float) -> bool:
        """Does it last to the end, which is shown too?"""
        return t_s == event.end_s == self._motion.duration_s


def middle(shape: Shape) -> Point:
    """Return the middle of a shape; that of a line lies on it."""
    if isinstance(shape, Box):
        return shape.at[0] + shape.size[0] / 2, shape.at[1] + shape.size[1] / 2
    return _Along(shape.points).at(0.5) if isinstance(shape, Line) else shape.at


def _is_under_way(travel: Travel, t_s: float) -> bool:
    """Is the dot seen: until it is home again, or has just arrived?"""
    if travel.returns:
        return travel.start_s <= t_s < travel.end_s
    return travel.start_s <= t_s <= travel.end_s


def _top(shape: Shape) -> float:
    """Return the upper end of a shape."""
    if isinstance(shape, Line):
        return min(point[1] for point in shape.points)
    return shape.at[1] - getattr(shape, "radius", 0.0)


def _share(travel: Travel, t_s: float) -> float:
    """Return how far along its road a dot is at a moment: it has one speed, there and back."""
    if travel.end_s == travel.start_s:
        return 1.0
    share = (t_s - travel.start_s) / (travel.end_s - travel.start_s)
    return 1 - abs(1 - 2 * share) if travel.returns else share


class _Along:
    """A way through points at one speed."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.points = points
        self._reached = [0.0, *accumulate(math.dist(*pair) for pair in pairwise(points))]

    @property
    def length(self) -> float:
        return self._reached[-1]

    def at(self, share: float) -> Point:
        """Return the point at a share of the length."""
        wanted = share * self.length
        for place, (one, other) in enumerate(pairwise(self.points)):
            begin, end = self._reached[place : place + 2]
            if begin <= wanted <= end and end > begin:
                return _between(one, other, (wanted - begin) / (end - begin))
        return self.points[-1]

    def nearest(self, to: Point) -> tuple[float, Point]:
        """Return the nearest point of the way, and its distance from the beginning."""
        found = []
        for place, (one, other) in enumerate(pairwise(self.points)):
            step = math.dist(one, other) or 1.0
            ahead = sum((b - a) * (c - a) for a, b, c in zip(one, other, to, strict=True))
            share = min(max(ahead / step**2, 0.0), 1.0)
            at = _between(one, other, share)
            found.append((math.dist(at, to), self._reached[place] + share * step, at))
        _, begin, at = min(found)
        return begin, at

    def part(self, begin: float, end: float) -> list[Point]:
        """Return the bends between two distances from the beginning, in the order of travel."""
        low, high = sorted((begin, end))
        bends = [
            point
            for point, reached in zip(self.points, self._reached, strict=True)
            if low < reached < high
        ]
        return bends if begin <= end else bends[::-1]


class _Road(_Along):
    """The way through named shapes: along lines that lead from one to the next, else straight.

    It begins and ends beside a box that has a label, which a dot in its middle would cover.
    """

    def __init__(self, diagram: Diagram, along: Sequence[str]) -> None:
        named = {shape.name: shape for shape in diagram.shapes if shape.name}
        lines = [shape for shape in diagram.shapes if isinstance(shape, Line)]
        points = [middle(named[along[0]])]
        for one, other in pairwise(along):
            ways = _ways(named[one], named[other], lines)
            points += min(ways, key=lambda way: _Along([points[-1], *way]).length)
        for name in (along[0], along[-1]):
            points = _from_edge(named[name], points)[::-1]
        super().__init__(points)
        heights = [middle(named[name])[1] for name in along]
        is_level = max(heights) - min(heights) <= NEAR
        self.top = min(_top(named[name]) for name in along) if is_level else math.inf


def _ways(one: Shape, other: Shape, lines: Sequence[Line]) -> list[list[Point]]:
    """Return the ways from the middle of a shape to that of another."""
    end = middle(other)
    return [[*way, end] for way in _over_lines(one, other, lines)] or [[end]]


def _over_lines(one: Shape, other: Shape, lines: Sequence[Line]) -> Iterator[list[Point]]:
    for line in lines:
        way = _Along(line.points)
        (begin, enters), (end, leaves) = (way.nearest(middle(each)) for each in (one, other))
        if _leads_to(one, enters) and _leads_to(other, leaves):
            yield [enters, *way.part(begin, end), leaves]


def _from_edge(shape: Shape, points: list[Point]) -> list[Point]:
    """Return a way from the middle of a shape without what lies in it, if that is a label's box."""
    if not isinstance(shape, Box) or not shape.label:
        return points
    for place, (one, other) in enumerate(pairwise(points)):
        shares = []  # of the step to each side of the box that it crosses
        for begin, end, low, size in zip(one, other, shape.at, shape.size, strict=True):
            edge = low + size + BESIDE if end > begin else low - BESIDE
            shares.append((edge - begin) / (end - begin) if end != begin else math.inf)
        if min(shares) < 1:
            return [_between(one, other, min(shares)), *points[place + 1 :]]
    return points


def _leads_to(shape: Shape, at: Point) -> bool:
    """Does a point lie in a shape, or near it?"""
    if isinstance(shape, Box):
        sides = zip(at, shape.at, shape.size, strict=True)
        return all(low - NEAR <= each <= low + size + NEAR for each, low, size in sides)
    return math.dist(at, middle(shape)) <= NEAR + getattr(shape, "radius", 0.0)


def _between(one: Point, other: Point, share: float) -> Point:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share
