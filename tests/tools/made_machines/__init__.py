"""The fake machines of resources/machines: how they are made, part by part.

Nothing of them was measured: they are put together after data sheets and manuals, to show the
program on machines that are not at hand. `python -m tests.tools.made_machines` writes the files.
"""
