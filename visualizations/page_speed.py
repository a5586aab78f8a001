"""The command `python -m visualizations.page_speed [--tokens 64 512] [--gamma 4] [--repeats 1] [--json FILE]`."""

import sys

from visualizations.step_through.speed import main

if __name__ == "__main__":
    main(sys.argv[1:])
