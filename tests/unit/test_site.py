"""The app without a server: which files it is, and that they lead nowhere else."""

from __future__ import annotations

import os
import re
from pathlib import Path

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import pytest  # noqa: E402

from visualizations.site import write_site  # noqa: E402
from visualizations.site.kept import EXAMPLES  # noqa: E402

ROOT = Path(__file__).parents[2]
TEXTS = {".html", ".js", ".css"}
MOST_BYTES = 10_000_000
# What a browser would load by itself: not the links that a reader may follow, nor names that only look like addresses.
LOADED = re.compile(r"""(?:src|href)=["'](https?:|//|/)|url\(["']?(https?:|//|/)|import\s*\(?["'](https?:|//|/)|@import""")
BESIDE = re.compile(r"""(?:src|href)="([^"#:]+)"|url\(["']?([^"')#:]+)["']?\)""")
LIBRARIES = {"plotly.min.js", "katex/katex.js"}  # not ours; what they do is seen in the browser


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    write_site(out)
    return out


def texts(site: Path) -> dict[str, str]:
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.suffix in TEXTS}
    return {name: path.read_text("utf-8") for name, path in found.items() if name not in LIBRARIES}


def test_it_is_a_small_folder_of_plain_files(site):
    files = [path for path in site.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    assert {path.suffix for path in files} == TEXTS | {".woff2"}
    assert len(list((site / "answers").iterdir())) >= len(EXAMPLES)


def test_nothing_is_loaded_from_elsewhere_and_what_is_named_is_there(site):
    for name, text in texts(site).items():
        assert not LOADED.search(text), name
        if name.endswith((".html", ".css")):
            named = {one or other for one, other in BESIDE.findall(text)}
            assert {beside for beside in named if not (site / name).parent.joinpath(beside).exists()} == set(), name
    assert LOADED.search('<script src="https://example.org/a.js">') and LOADED.search("url(/fonts/a.woff2)")


def test_it_tells_nothing_of_the_machine_that_made_it(site):
    here = [str(ROOT), str(Path.home()), str(Path(os.__file__).parent), str(site)]
    for name, text in texts(site).items():
        assert [path for path in here if len(path) > 1 and path in text] == [], name


def test_every_recorded_run_is_in_it(site):
    all_texts = "".join(text for name, text in texts(site).items() if name.startswith(("answers/", "parts/step-through")))
    for example in EXAMPLES.values():
        assert f"example-{example.key}" in all_texts
