"""The motion of a lesson: what moves on its drawing, in seconds of the machine that was measured.

`motion(run, pointed)` in a lesson's `lesson.py` returns it. Shapes are named by `name` in
`diagram.toml`; texts are keys of `[motion]` in the lesson's words, and may name values of the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Set

from experiments.core.teaching.diagram import Diagram, Role
from machine.record import Record

MOST_EVENTS, MOST_SAYINGS, STILLS = 200, 6, 3
RESERVED = frozenset({"title", "point"})  # keys of the words that stand above and below
SHORTEST_S, USUAL_S, LONGEST_S = 4.0, 6.0, 8.0  # on the screen


class Pointed(Record):
    """A place in a plot that a person points at."""

    view: str
    name: str = ""  # of a bar, line, lane or pin
    at: float | None = None  # on the x axis


class Travel(Record):
    """A dot moves along named shapes at one speed; with `returns` it comes back the same way.

    `token` is the word or number in the dot: a key of the words, or digits.
    """

    along: tuple[str, ...]
    start_s: float
    end_s: float
    token: str = ""
    role: Role = "attention"
    returns: bool = False


class Hold(Record):
    """A shape is lit: a lock held, a lane busy, a line owned, a unit that computes."""

    shape: str
    start_s: float
    end_s: float
    role: Role = "main"
    label: str = ""


class Count(Record):
    """A number beside a shape counts up: at each of `times`, or every `every_s` within a stretch.

    `label` is a key of the words, in which {n} stands for the number.
    """

    shape: str
    label: str
    times: tuple[float, ...] = ()
    start_s: float = 0.0
    end_s: float = 0.0
    every_s: float = 0.0

    def at(self, t_s: float) -> int:
        """Return what was counted up to a moment."""
        if not self.every_s:
            return sum(each <= t_s for each in self.times)
        passed_s = min(t_s, self.end_s) - self.start_s
        return max(0, math.floor(passed_s / self.every_s * (1 + 1e-9)))


class Say(Record):
    """A short sentence below the drawing, until the next one."""

    text: str
    start_s: float


Event = Travel | Hold | Count


class Scene(Record):
    """One copy of the drawing, and what happens on it."""

    events: tuple[Event, ...]
    title: str = ""  # a key of the words


class Motion(Record):
    """Scenes on one clock, `duration_s` long; `stills` are three moments that show what matters.

    `without` names shapes that this run did not have, such as a third core: they are not drawn.
    `slowed` is how many times slower the screen shows it; None: so that it takes 4 to 8 seconds.
    """

    scenes: tuple[Scene, ...]
    duration_s: float
    stills: tuple[float, float, float]
    says: tuple[Say, ...] = ()
    slowed: float | None = None
    without: tuple[str, ...] = ()

    @property
    def factor(self) -> float:
        """The factor by which it is shown slower; below 1 it is shown faster."""
        return self.slowed or rounded_factor(self.duration_s)

    @property
    def moments(self) -> tuple[float, ...]:
        """When something begins or ends, in order: what one steps through."""
        found = {0.0, self.duration_s, *(say.start_s for say in self.says)}
        for event in self.events():
            found |= set(event.times) if isinstance(event, Count) else {event.start_s, event.end_s}
        return tuple(sorted(found))

    def events(self) -> Iterator[Event]:
        """Yield the events of all scenes."""
        for scene in self.scenes:
            yield from scene.events


def rounded_factor(duration_s: float) -> float:
    """Return the factor of one digit that makes a duration last about six seconds."""
    exact = USUAL_S / duration_s
    power = 10.0 ** math.floor(math.log10(exact))
    digits = (digit * power for digit in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
    return min(digits, key=lambda factor: abs(factor * duration_s - USUAL_S))


def faults(motion: Motion, diagram: Diagram | None, texts: Set[str]) -> Iterator[str]:
    """Yield what is wrong with a motion, in words for the lesson's author."""
    shapes = {shape.name for shape in diagram.shapes if shape.name} if diagram else set()
    events, drawn = [*motion.events()], shapes - {*motion.without}
    used: set[str] = {scene.title for scene in motion.scenes} | {say.text for say in motion.says}
    if not math.isfinite(motion.duration_s) or motion.duration_s <= 0:
        yield f"duration_s is {motion.duration_s}"
    if sum(len(each.times) if isinstance(each, Count) else 1 for each in events) > MOST_EVENTS:
        yield f"more than {MOST_EVENTS} events"
    if len(motion.says) > MOST_SAYINGS:
        yield f"more than {MOST_SAYINGS} sayings"
    if not 0 <= motion.stills[0] < motion.stills[1] < motion.stills[2] <= motion.duration_s:
        yield f"stills {motion.stills} are not three moments in order"
    yield from (f"no shape is named {name}" for name in motion.without if name not in shapes)
    for event in events:
        named = event.along if isinstance(event, Travel) else (event.shape,)
        yield from (f"no shape is named {name}" for name in named if name not in drawn)
        used.add(event.token if isinstance(event, Travel) else event.label)
        times = event.times if isinstance(event, Count) else (event.start_s, event.end_s)
        if any(not 0 <= each <= motion.duration_s for each in times) or [*times] != sorted(times):
            yield f"{event} does not lie within 0 to {motion.duration_s} s"
    yield from (
        f"no text {key}" for key in sorted(used - (texts - RESERVED) - {""}) if not key.isdecimal()
    )
