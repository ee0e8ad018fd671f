"""`python -m app` is `coreopsis`."""

from __future__ import annotations

import sys

from experiments.core.processes.libraries import missing_sentence

# In a bare checkout nothing is installed, and most modules import some of these.
if sentence := missing_sentence():
    sys.stderr.write(f"{sentence}\n")
    sys.exit(3)  # cannot run here

from app.cli import main

sys.exit(main())
