"""Inner names of `paddle.utils.cpp_extension.cpp_extension`."""

import os

from .....utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

__all__ = ["BuildExtension", "CUDAExtension", "CppExtension"]
CUDA_HOME = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
