"""The command `python -m visualizations.record_timings [name ...]`."""

from visualizations.is_it_faster.record import main

if __name__ == "__main__":
    main()
