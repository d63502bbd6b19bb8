"""`python -m mebnb`: the command line."""

import sys

from mebnb.cli import main

sys.exit(main())
