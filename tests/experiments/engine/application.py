"""A small application, to be killed: runs one misbehaving experiment and says what it hears.

It is given the parameters as JSON, and says a line of JSON for each event.
"""

from __future__ import annotations

import json
import sys

from experiments.engine.jobs import Engine
from tests.experiments.engine.runs import SHELVES, guardian_of, misbehave, params


def main() -> None:
    wishes = json.loads(sys.argv[1])
    experiment = misbehave(quiet_limit_s=wishes.pop("quiet_limit_s", 60.0))
    engine = Engine(shelves=SHELVES)
    run = engine.start(experiment, params(**wishes))
    say(type="guardian", pid=guardian_of(run))
    for event in run.events():
        say(type=event.__struct_config__.tag, outcome=getattr(event, "outcome", None))
    engine.close()


def say(**said: object) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
