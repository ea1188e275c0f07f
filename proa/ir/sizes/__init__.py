"""Sizes that change or are not known yet: families of paths, symbols, buckets, what a capture takes for granted."""
