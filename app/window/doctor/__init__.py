"""The doctor's page: what stands between Python and the GPU."""
