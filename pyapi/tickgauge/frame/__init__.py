"""Columns of the core as Python tables, and how they are shown."""
