"""Libraries written for Paddle, run on proa: `python -m tests.ecosystem`."""
