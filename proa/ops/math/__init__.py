"""Element by element, reductions, scans, comparisons, statistics."""
