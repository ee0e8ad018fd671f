"""The doctor in the window: what stands between Python and the GPU, and what mends it."""
