"""`python -m proa_command`: the same as `proa`."""

import sys

from . import main

sys.exit(main())
