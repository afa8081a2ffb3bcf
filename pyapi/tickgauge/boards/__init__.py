"""Clocks and cpus of known boards."""
