"""The words that every rule must give to healthy and to faulty machines."""

from tests.experiments.checkup.cases import (
    computes,
    configured,
    gpus,
    order,
    performs,
    present,
    stays,
)

CASES = [
    case
    for stage in (present, order, configured, performs, gpus, computes, stays)
    for case in stage.CASES
]
