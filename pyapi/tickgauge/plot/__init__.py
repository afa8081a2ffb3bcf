"""Plots (the ``plot`` extra): functions on plain series, and the plots of result objects.

Every function takes ``ax`` (matplotlib Axes, or None for new ones) and returns the Axes. Nothing
here calls ``show()`` or touches rcParams. Units and the number of readings are on every plot.
"""
