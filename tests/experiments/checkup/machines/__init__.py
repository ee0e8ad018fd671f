"""Typical machines, sound and faulty, and what a checkup must say of each of their rows.

What is in them follows data sheets, what they do follows public measurements. The firmware's table
of memory modules is read by the reader itself, so that its names count as on a real machine.
"""
