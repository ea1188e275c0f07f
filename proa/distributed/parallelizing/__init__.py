"""Models of one device on many: plans, pipelines, and the training step as one program."""
