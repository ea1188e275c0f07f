"""Statistics over axes: moments, quantiles, histograms, counts."""
