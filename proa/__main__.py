"""`python -m proa`: the `proa` command."""

import sys

from proa_command import main

sys.exit(main())
