"""`python -m tfdist`: the same as the command `tfdist`."""

import sys

from tfdist.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
