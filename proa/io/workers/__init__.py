"""Worker processes of a `DataLoader`: starting and watching them, and bringing their batches over without a copy."""
