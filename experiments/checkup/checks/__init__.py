"""The checks: each rule's id, and what makes its rows from the evidence."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from experiments.checkup.checks import computes, configured, gpus_perform, performs, present, stays
from experiments.checkup.checks.common import Check
from experiments.checkup.evidence import Evidence
from experiments.checkup.judge import fact
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule

log = logging.getLogger(__name__)

CHECKS: Mapping[str, Check] = {
    "devices": present.devices,
    "kernel-log": present.kernel_log,
    "memory-errors": present.memory_errors,
    "gpu-errors": present.gpu_errors,
    "torch-works": configured.torch_works,
    "frameworks": configured.frameworks,
    "memory-speed": configured.memory_speed,
    "memory-channels": configured.memory_channels,
    "gpu-link": configured.gpu_link,
    "nvlinks": configured.nvlinks,
    "memory-bandwidth": performs.memory_bandwidth,
    "cores": performs.cores,
    "disk": performs.disk,
    "gpu-copy": gpus_perform.gpu_copy,
    "gpu-memory": gpus_perform.gpu_memory,
    "gpu-products": gpus_perform.gpu_products,
    "gpu-pairs": gpus_perform.gpu_pairs,
    "identical": computes.identical,
    "patterns": computes.patterns,
    "training": computes.training,
    "sustained": stays.sustained,
    "throttling": stays.throttling,
}


def rows_of(rule: Rule, evidence: Evidence) -> tuple[Row, ...]:
    """Return the rows of a rule: one, or one for each part it is about."""
    try:
        return tuple(CHECKS[rule.id](rule, evidence))
    except Exception:  # one check that stumbles must not take the others with it
        log.exception("the check %s failed", rule.id)
        return (fact(rule, Word.UNCHECKED, "stumbled"),)
