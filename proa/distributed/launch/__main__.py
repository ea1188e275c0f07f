"""`python -m paddle.distributed.launch train.py …`."""

from ..launching import launch

launch()
