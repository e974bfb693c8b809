"""`python -m runtime.cli`: the command line without its installed script."""

import sys

from runtime.cli import main

sys.exit(main())
