"""CUDA kernels run on the CPU, thread by thread, so that what they compute is tested where there is no GPU."""
