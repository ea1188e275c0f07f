"""Side-by-side benchmarks of proa, PaddlePaddle and PyTorch; run with `python -m benchmarks`.

The driver (`__main__`, `harness`) runs in proa's own environment. `harness.worker` and
`workloads` run inside each framework's environment, so they use nothing but the standard library,
NumPy and the framework that is handed to them. Nothing in `proa` may import this package.
"""
