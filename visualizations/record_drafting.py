"""The command `python -m visualizations.record_drafting [name ...]`."""

from visualizations.drafting.record import main

if __name__ == "__main__":
    main()
