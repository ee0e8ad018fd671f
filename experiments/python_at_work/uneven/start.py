"""Share the rows out so that all workers end together. Now each gets a block of equal count.

The result of `share` takes the place of the blocks. A row's cost is known only once it has been
computed; rows that lie side by side cost about the same.
"""

from __future__ import annotations

from typing import Any

from experiments.python_at_work.uneven import jobs
from experiments.tools.serving import serve


# Yours to change: this is what is measured
def share(rows: list[int], workers: int) -> list[list[int]]:
    """Return the rows of each worker."""
    size = -(-len(rows) // workers)
    return [rows[first : first + size] for first in range(0, len(rows), size)]


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Compute the rows of a request; blocks are shared out here.

    Raises ValueError where a row is missing, or given twice.
    """
    chunks = request["chunks"]
    rows = [row for chunk in chunks for row in chunk]
    if request["own"] and len(chunks) > 1 and rows == sorted(rows):
        chunks = share(rows, len(chunks))
        if sorted(row for chunk in chunks for row in chunk) != rows:
            raise ValueError("share must give each row to one worker")
    return jobs.run({**request, "chunks": chunks})


if __name__ == "__main__":
    serve({"start": jobs.start, "run": run})
