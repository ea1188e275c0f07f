"""`paddle.vision.datasets`: standard image datasets read from local files, and folders of images.

Every dataset takes the paths of its files; files that are not given are looked for in the cache folder and downloaded
when there is a network. Archives are read in place: nothing is unpacked, and nothing in them is executed.
"""

from __future__ import annotations

from .cifar import Cifar10, Cifar100
from .flowers import Flowers
from .folder import DatasetFolder, ImageFolder
from .mnist import MNIST, FashionMNIST
from .voc2012 import VOC2012

__all__ = [
    "Cifar10",
    "Cifar100",
    "DatasetFolder",
    "FashionMNIST",
    "Flowers",
    "ImageFolder",
    "MNIST",
    "VOC2012",
]
