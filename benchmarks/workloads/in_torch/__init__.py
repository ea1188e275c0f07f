"""What PyTorch does beside proa, where it is more than a class in the file of the workload."""
