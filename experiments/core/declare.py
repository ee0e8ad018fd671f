"""The declaration of an experiment: parameters, rows, measure, analyse, and what it needs.

The form, the command line, the axes and the recorder read only what stands here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from experiments.core.sizes import shrink
from experiments.core.units import unit_of
from experiments.core.views import Axis, Code, Lines, Plotted, Scale, View
from machine.model import Machine
from machine.record import Record, RecordType

if TYPE_CHECKING:
    from experiments.core.bench import Bench


class Part(StrEnum):
    """Kinds of parts on the machine map."""

    CORES = "cores"
    FRONT_END = "front_end"  # this and the next three lie inside a core
    PORTS = "ports"
    TRANSLATION = "translation"
    FILL_BUFFERS = "fill_buffers"
    L1 = "l1"
    L2 = "l2"
    L3 = "l3"
    MEMORY = "memory"
    STORAGE = "storage"
    PCIE = "pcie"
    GPU = "gpu"
    NVLINK = "nvlink"


class Need(StrEnum):
    """A need that a machine may lack; `problems.needs_KEY` in the words says it in a sentence."""

    GPU = "gpu"
    TWO_GPUS = "two_gpus"
    NUMA = "numa"
    SMT = "smt"
    CORE_PAIR = "core_pair"
    DIRECT_IO = "direct_io"
    LINUX = "linux"
    POSIX = "posix"
    NUMBA = "numba"
    TORCH = "torch"


class Use(StrEnum):
    """A feature that an experiment uses where the system has it, and else measures without.

    `without.KEY` in the words completes "Windows cannot ...".
    """

    PINNING = "pinning"
    FORK = "fork"
    HUGE_PAGES = "huge_pages"
    PIPE_SIZE = "pipe_size"
    WAITS = "waits"
    SYSTEM_CALL = "system_call"
    CACHED_READS = "cached_reads"
    MEMORY_NODE = "memory_node"
    MARKS = "marks"  # of disturbed samples: of all that the bench times itself


class Spec(Record):
    """Facts about one field for a form, the command line, an axis and the recorder."""

    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    scale: Scale = "linear"
    choices: tuple[str, ...] | Callable[[Machine], tuple[str, ...]] = ()
    is_folder: bool = False  # a text that names one; "" is the usual one
    used_with: tuple[str, str] | None = None  # only where this other field has this value
    earned: str = ""  # starts from this value, if it was measured here: "stream.add_bytes_per_s"

    def known_choices(self, machine: Machine) -> tuple[str, ...]:
        """Return the choices on a machine; may take a moment where it has to be searched."""
        return self.choices(machine) if callable(self.choices) else self.choices


class _Declared(Record, kw_only=False):
    """The value behind the `=` of a field: its default, and the contents of its Spec."""

    default: Any
    spec: Mapping[str, Any]


def param(default: Any, **spec: Any) -> Any:
    """Declare a parameter with its default, range, scale or choices, as in Spec."""
    return _Declared(default, spec)


def column(**spec: Any) -> Any:
    """Declare of a column what its name does not say, as in Spec; every row supplies it."""
    return _Declared(msgspec.NODEFAULT, spec)


def _spec(name: str, spec: Mapping[str, Any]) -> Spec:
    """Return the Spec of a field. Raises ValueError for a unit that its name says already."""
    implied = unit_of(name)
    if spec.get("unit") == implied:
        raise ValueError(f'leave out the unit "{implied}" of {name}: its name says so')
    return Spec(**{"unit": implied, **spec})


class _FieldsType(RecordType):
    """The type of classes whose fields have a Spec: what is declared, and the unit of the name."""

    __specs__: dict[str, Spec]

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> Any:
        given = {n: value for n, value in namespace.items() if isinstance(value, _Declared)}
        kept = {n: value for n, value in namespace.items() if n not in given}
        kept |= {n: of.default for n, of in given.items() if of.default is not msgspec.NODEFAULT}
        made = super().__new__(mcls, name, bases, kept, **options)
        known = {n: spec for base in bases for n, spec in getattr(base, "__specs__", {}).items()}
        known |= {n: _spec(n, of.spec) for n, of in given.items()}
        made.__specs__ = {n: known.get(n) or _spec(n, {}) for n in made.__struct_fields__}
        return made


class Params(Record, metaclass=_FieldsType):
    """The settings of a run: each field has a default; `param` says more of it."""


class Row(Record, metaclass=_FieldsType):
    """One row of a table: each field is a column; `column` says more of it."""


P = TypeVar("P", bound=Params)
Tables = Mapping[str, Sequence[Any]]


def specs(kind: type[Params | Row]) -> dict[str, Spec]:
    """Return what is declared of each field, in order."""
    return kind.__specs__


class Progress(Record, kw_only=False):
    """Yielded by `measure`: the share of the work that is done, 0 to 1."""

    fraction: float


class Note(Record, kw_only=False):
    """Yielded by `measure`: something to say in words, `notes.KEY`."""

    key: str
    values: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Frame(Record, kw_only=False):
    """Yielded by `measure`: a picture of `table`, `data` is uint8 of `shape` (rows, columns)."""

    table: str
    shape: tuple[int, int]
    data: bytes


Measured = Generator[Any, None, None]  # rows of the declared tables, Progress, Note and Frame


class Value(Record, kw_only=False):
    """A number that a finding carries, and the part of the map that it fills.

    `within` names the value that says in how much it was found: two runs in which that is far apart
    speak of different things.
    """

    name: str
    part: Part | None = None
    within: str | None = None

    @property
    def unit(self) -> str:
        """The unit that its name ends in."""
        return unit_of(self.name)


def values(*named: str | Value) -> tuple[Value, ...]:
    """Return the values of an experiment; a name alone fills no part of the map."""
    return tuple(each if isinstance(each, Value) else Value(each) for each in named)


class Finding(Record, kw_only=False):
    """The result: a message key and numbers; `limits` are keys of what it cannot tell.

    `unclear` names the values that say how far two things are apart, though their spreads are not.
    """

    message: str
    values: Mapping[str, float] = msgspec.field(default_factory=dict)
    limits: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()


class Limits(list[str]):
    """The keys of what a finding cannot tell, in the order in which they are said."""

    def add(self, key: str, is_so: object) -> None:
        """Add a limit if it holds."""
        if is_so:
            self.append(key)


class Key(Record, kw_only=False):
    """A number to be read first, and its mark in a view.

    The mark belongs to the bars, lines, pins, lanes or cells with these labels, or to the place
    `at`. The value `at` gives a place on the x axis. With names and `at`, it is the named line at
    that place.
    """

    value: str
    view: str
    names: tuple[str, ...] = ()
    at: str = ""


class Next(Record, kw_only=False):
    """Steps after a run: settings to change, and an experiment; `next.*` in the words.

    A function makes a setting from that of the run.
    """

    experiment: str
    setting: Mapping[str, Any] = msgspec.field(default_factory=dict)

    def changes(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings to change after a run with these; none that it had already."""
        wanted = {
            name: value(params[name]) if callable(value) else value
            for name, value in self.setting.items()
            if name in params
        }
        return {name: value for name, value in wanted.items() if value != params[name]}


class Live(Record, Generic[P], kw_only=False):
    """Points that are measured one by one, in about 50 ms each, while the user moves a slider.

    `params` says what a point has; its defaults are the first one. `prepare` makes once what all
    points share, and returns what measures one: it yields rows of the experiment's own tables.
    """

    params: type[P]
    prepare: Callable[[Bench], Callable[[P], Measured]]


def _scaled(view: View, table: type[Row] | None) -> View:
    """Return a view of a table whose axes have the scales of their columns.

    Raises ValueError for an axis with a scale of its own.
    """
    if not isinstance(view, Lines) or table is None:
        return view
    scaled, known = {}, specs(table)
    for name, axis in (("x", view.x), ("y", view.y)):
        if axis.column in known:
            scaled[name] = Axis(axis.column, known[axis.column].scale)
            if axis.scale not in ("linear", scaled[name].scale):
                raise ValueError(f"the scale of the axis {axis.column} is that of its column")
    return msgspec.structs.replace(view, **scaled)


class Budget(Record):
    """Cuts parameters, in this order and each to its least value, until a run's estimate fits.

    `full` is cut after `defaults`, `quick` after `quick`; most seconds of both kinds of run.
    """

    full: Mapping[str, float] = msgspec.field(default_factory=dict)
    quick: Mapping[str, float] = msgspec.field(default_factory=dict)
    full_s: float = 28.0
    quick_s: float = 4.8


class Experiment(Record, Generic[P]):
    """A declaration: the engine runs it and the window draws it, knowing only this.

    `measure` yields rows and asks only its bench for time. `analyse` is pure: it is run again on
    any recording, also on a partial one.
    """

    params: type[P]
    tables: Mapping[str, type[Any]]
    measure: Callable[[P, Bench], Measured]
    analyse: Callable[[P, Tables, Machine], Finding]
    views: tuple[View, ...]  # the first is the headline, the second the confirming one
    values: tuple[Value, ...]
    parts: tuple[Part, ...]
    defaults: Callable[[Machine], P]  # sizes that suit this machine; `suited` cuts them
    quick: Callable[[P], P]  # what a quick run leaves out; `reduced` cuts the rest
    seconds: Callable[[P], float]  # expected time of a run
    memory_bytes: Callable[[P], int]
    version: int = 1  # higher once a name or the meaning of a value has changed
    budget: Budget = Budget()
    needs: tuple[Need, ...] = ()  # beside torch and numba, where it imports them
    uses: tuple[Use, ...] = ()  # of the system; what it lacks is said, and left out
    imports: tuple[str, ...] = ()  # loaded before the clock starts
    can_do_without: tuple[str, ...] = ()  # of the imports
    smallest: Callable[[P], P] = lambda params: params  # of quick ones: shows every table once
    quiet_limit_s: float = 20.0  # longer without a word, and the run is killed
    # Values that `make gpu-check` holds against a figure of CUDA: its name, and the ratio's budget.
    cuda_reference: Mapping[str, tuple[str, tuple[float, float] | None]] = msgspec.field(
        default_factory=dict
    )
    keys: tuple[Key, ...] = ()  # at most three
    next: Next | None = None
    live: Live[Any] | None = None
    confirmed_by: str = ""  # the event of the processor that its effect is made of
    loop: str = ""  # the function that is measured, "FILE:NAME": the code opens there
    can_wait: bool = True  # its first turn can; not where its bench counts none
    measures_load: bool = False  # what others take is its finding, so it makes no run doubtful
    is_in_tour: bool = False  # measured by the terminal's tour, in teaching order

    def __post_init__(self) -> None:
        """Fill in what follows: the needs from the imports, the scales of axes from the columns."""
        with contextlib.suppress(AttributeError, TypeError):  # of the wrong kind: rules.py says so
            imported = [name for name in self.imports if name not in self.can_do_without]
            libraries = (Need(name) for name in imported if name in tuple(Need))
            needs = (*self.needs, *libraries)  # what cannot be added is named first
            msgspec.structs.force_setattr(self, "needs", tuple(dict.fromkeys(needs)))
            views = tuple(_scaled(view, self.tables.get(view.table)) for view in self.views)
            msgspec.structs.force_setattr(self, "views", views)

    @property
    def id(self) -> str:
        """The name of its folder."""
        return self.params.__module__.split(".")[-2].replace("_", "-")

    @property
    def is_own(self) -> bool:
        """Is it a user's own, so that its code may change, fail or never end?"""
        return self.shelf == "yours"

    @property
    def shelf(self) -> str:
        """The name of its shelf."""
        return self.params.__module__.split(".")[-3].replace("_", "-")

    @property
    def plots(self) -> tuple[Plotted, ...]:
        """The views that are drawn from rows; the first of them is the headline of a run."""
        return tuple(view for view in self.views if not isinstance(view, Code))

    def suited(self, machine: Machine) -> P:
        """Return the parameters that suit a machine, cut to the budget."""
        budget = self.budget
        return shrink(self.defaults(machine), self.seconds, budget.full_s, **budget.full)

    def reduced(self, params: P) -> P:
        """Return parameters reduced to a quick run, cut to the budget."""
        budget = self.budget
        return shrink(self.quick(params), self.seconds, budget.quick_s, **budget.quick)

    def params_for(
        self, machine: Machine, *, quick: bool, earned: Mapping[str, float] | None = None
    ) -> P:
        """Return the parameters that a run on this machine starts from.

        `earned` are values of earlier runs on it, as a `Spec` names them.
        """
        known = {
            name: earned[spec.earned]
            for name, spec in specs(self.params).items()
            if earned is not None and spec.earned in earned
        }
        suited = msgspec.structs.replace(self.suited(machine), **known)
        return self.reduced(suited) if quick else suited
