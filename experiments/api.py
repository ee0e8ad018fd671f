"""All that an experiment imports of core and machine, as `from experiments import api as x`."""

from experiments.core.bench import SEED, Bench
from experiments.core.declare import (
    Budget,
    Experiment,
    Finding,
    Frame,
    Key,
    Limits,
    Live,
    Measured,
    Need,
    Next,
    Note,
    Params,
    Part,
    Progress,
    Row,
    Tables,
    Use,
    Value,
    column,
    param,
    values,
)
from experiments.core.judging.comparing import ENOUGH, LEVEL, Outcome, alike_within, family
from experiments.core.judging.disturbed import Spent
from experiments.core.judging.intervals import Interval, in_both, length_s, merged, without
from experiments.core.judging.statistics import (
    CANNOT_TELL,
    TOO_FEW,
    Spread,
    best_of,
    collected,
    medians,
    ratios,
    spread,
    spreads,
    spreads_of,
    standing,
    too_few,
    unsure,
)
from experiments.core.needs import lacks
from experiments.core.parameters import from_text, to_json
from experiments.core.problems import UserError
from experiments.core.sizes import (
    BEYOND_CACHE,
    GIB,
    KIB,
    MIB,
    beyond_cache,
    change,
    fits,
    ladder,
    shrink,
)
from experiments.core.teaching.lesson_run import Guess, LessonRun, Spot, first_below, found, limited
from experiments.core.teaching.motion import (
    Count,
    Hold,
    Motion,
    Pointed,
    Say,
    Scene,
    Travel,
    rounded_factor,
)
from experiments.core.units import SWITCH
from experiments.core.views import (
    BROKEN,
    MENDED,
    Axis,
    Bars,
    Code,
    Field,
    Heatmap,
    Limit,
    Lines,
    Piece,
    Ratio,
    Ruler,
    Timeline,
)
from machine.memory.nodes import usable_nodes
from machine.model import (
    Machine,
    Thread,
    cache_sizes,
    caches_of,
    is_guest,
    is_virtual,
    last_level_cache_bytes,
    physical_cores,
    usable_threads,
)
from machine.record import Record
