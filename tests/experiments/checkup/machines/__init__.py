"""Typical machines, sound and faulty, and what a checkup must say of each of their rows.

Their parts follow data sheets, and their behaviour follows public measurements. The program's own
reader reads the firmware's table of memory modules. So its names count as on a real machine.
"""
