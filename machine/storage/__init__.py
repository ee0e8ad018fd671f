"""Disks, and the disk that a folder lies on."""
