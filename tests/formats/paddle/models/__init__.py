"""Models saved by real Paddle in each of its formats, loaded and run here: `python -m tests.formats.paddle.models`."""
