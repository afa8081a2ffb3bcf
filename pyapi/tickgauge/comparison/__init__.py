"""Two sides to a verdict: snapshots, comparisons, gates, trends."""
