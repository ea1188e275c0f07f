"""The parts a `DataLoader` is made of: datasets, samplers, collating. They also work without a loader."""
