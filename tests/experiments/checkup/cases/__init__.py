"""What every rule must say of healthy and of faulty machines."""

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
