"""The check on a GPU machine: every experiment that uses a GPU, and its rates against CUDA."""
