"""Leave a loop over memory on vectors of 256 bits, whatever the processor has.

With vectors of 512 bits LLVM fetches four cache lines of one array before it turns to the next. On
an AMD Zen 4 (family 25, model 17) that costs a fifth of the bandwidth of a triad and a tenth of a
sum's, against the same loop with 256 bits, which C reaches as well; for Intel's processors with
AVX-512 LLVM chooses 256 bits by itself. Other processors do not notice.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[misc,unused-ignore]
def vectors_of_256_bits(_typing: Any) -> Any:
    """Say it of the function that calls this."""

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        # llvmlite's own `add` knows the attributes without a value only
        set.add(builder.function.attributes, '"prefer-vector-width"="256"')
        return context.get_dummy_value()

    return types.void(), generate
