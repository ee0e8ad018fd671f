"""The steps of the doctor: each looks at one thing, from the system to PyTorch."""
