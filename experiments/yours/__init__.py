"""Shelf of the user's own experiments: the folders that the environment names."""

import os

VARIABLE = "COREOPSIS_EXPERIMENTS"  # folders of experiments, inherited by every worker

EXPERIMENTS = ()
__path__ += [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
