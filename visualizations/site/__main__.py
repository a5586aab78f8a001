"""The command `python -m visualizations.site OUT`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported

from visualizations.site.build import write_site


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m visualizations.site", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write; it must be empty or not there yet")
    out = parser.parse_args().out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        parser.error(f"{out} is there already and isn't an empty folder")
    written = write_site(out)
    print(f"{len(written)} files, {sum(path.stat().st_size for path in written) / 1e6:.1f} MB: open {out / 'index.html'}")


if __name__ == "__main__":
    main()
