"""The command `python -m visualizations.record [key ...]`."""

import sys

from visualizations.step_through.record import main

if __name__ == "__main__":
    main(sys.argv[1:])
