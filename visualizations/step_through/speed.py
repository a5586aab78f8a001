"""What the page costs: the same run by the engine alone, through the API and on the page, side by side.

The app runs in a process of its own, as it does for a visitor; the page is the real one, in headless Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, Any

from specdec.models.cores import cores_beside_page
from specdec.settings import Settings
from visualizations.step_through.examples import examples
from visualizations.text import t

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 900
TYPING_TRIES, SETTLING_MS = 5, 300
WARM_UP_TOKENS = 8
PROMPT = "Tell me a very long story about a ship and the people who live on it."

# When each round's box was there to be painted, in seconds from the click on Run; null until the old boxes are gone.
_WATCH = """() => {
  const strip = document.querySelector('#run-view .rv-strip');
  const note = () => {
    while (window.drawn && window.drawn.length < strip.children.length) {
      window.drawn.push((performance.now() - window.clicked) / 1000);
    }
  };
  document.querySelector('#run').addEventListener('click', () => {
    window.clicked = performance.now();
    window.drawn = null;
  }, {capture: true});
  new MutationObserver((changes) => {
    if (changes.some((change) => change.removedNodes.length)) window.drawn = [];
    requestAnimationFrame(note);
  }).observe(strip, {childList: true});
}"""


@dataclass(frozen=True)
class Way:
    """One way of having a run. seconds: all of it; arrivals: when each round was there, from the same start."""

    seconds: float
    arrivals: tuple[float, ...]

    def quarters(self) -> tuple[float, float]:
        """Seconds a round in the first and in the last quarter of the rounds."""
        steps = max(1, len(self.arrivals) // 4)
        first, last = self.arrivals[: steps + 1], self.arrivals[-steps - 1 :]
        return (first[-1] - first[0]) / steps, (last[-1] - last[0]) / steps


@dataclass(frozen=True)
class Measured:
    """Medians over the repeats. engine: decode seconds alone; api, page: from the request to the last token."""

    tokens: int
    rounds: int
    engine: float
    api: float
    page: float
    engine_spread: tuple[float, float]
    quarters: dict[str, tuple[float, float]]

    def told(self) -> str:
        """A few lines for a terminal."""
        lines = [f"{self.tokens} tokens, {self.rounds} rounds (engine from {_seconds(self.engine_spread)} s)"]
        for name in ("engine", "api", "page"):
            seconds, (first, last) = getattr(self, name), self.quarters[name]
            lines.append(
                f"  {name:6} {seconds:7.2f} s   {seconds / self.engine:5.2f} x engine   "
                f"a round: {first:.3f} s in the first quarter, {last:.3f} s in the last"
            )
        return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Measure and print; see `python -m visualizations.page_speed --help`."""
    parser = argparse.ArgumentParser("python -m visualizations.page_speed", description=__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--gamma", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    asked = parser.parse_args(arguments)
    lengths = [_settings(tokens, asked.gamma) for tokens in asked.tokens]
    measured = []
    for result in measure(lengths, asked.repeats):
        print(result.told(), flush=True)
        measured.append(result)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(result) for result in measured], indent=1) + "\n", "utf-8")


def measure(lengths: Sequence[Settings], repeats: int) -> Iterator[Measured]:
    """Each of the settings in all three ways, which take turns."""
    threads = cores_beside_page()  # as app.py has it: another number rounds otherwise and may write another text
    os.environ["OMP_NUM_THREADS"] = str(threads)
    engine = _engine(threads)
    with launched_app() as url, opened_page(url) as page:
        ways: dict[str, Callable[[Settings], Way]] = {"engine": engine, "api": _api(url), "page": _page(page)}
        for way in ways.values():
            way(replace(lengths[0], max_new_tokens=WARM_UP_TOKENS))
        for settings in lengths:
            runs = [{name: way(settings) for name, way in ways.items()} for _ in range(repeats)]
            yield _summary(settings, runs)


def _summary(settings: Settings, runs: Sequence[dict[str, Way]]) -> Measured:
    alone = [run["engine"].seconds for run in runs]
    quarters = {
        name: tuple(median(quarter) for quarter in zip(*(run[name].quarters() for run in runs), strict=True))
        for name in runs[0]
    }
    middle = {name: median(run[name].seconds for run in runs) for name in runs[0]}
    rounds = {len(way.arrivals) for run in runs for way in run.values()}
    if len(rounds) != 1:
        raise RuntimeError(f"The same run had {sorted(rounds)} rounds in different ways.")
    return Measured(
        settings.max_new_tokens, rounds.pop(), **middle, engine_spread=(min(alone), max(alone)), quarters=quarters
    )


def _settings(tokens: int, gamma: int) -> Settings:
    return examples()[0].settings.changed(max_new_tokens=tokens, gamma=gamma)


def _engine(threads: int) -> Callable[[Settings], Way]:
    """The engine with nothing around it: its own decode clock."""
    from specdec import recording
    from specdec.models.devices import use_threads
    from specdec.models.pairs import load_pair

    use_threads(threads)
    pair = load_pair(examples()[0].choice.key)

    def run(settings: Settings) -> Way:
        spent, arrivals = 0.0, []
        for round_ in recording.run(pair, pair.encode(PROMPT, chat=settings.chat), settings):
            spent += round_.finished - round_.started
            arrivals.append(spent)
        return Way(spent, tuple(arrivals))

    return run


def _api(url: str) -> Callable[[Settings], Way]:
    """The endpoint as a program calls it; the clock stops when the trace is there."""
    from gradio_client import Client

    client = Client(url, verbose=False)

    def run(settings: Settings) -> Way:
        began, updates = perf_counter(), []
        job = client.submit(PROMPT, api_name="/decode", **settings.to_dict())
        for update in job:
            updates.append((perf_counter() - began, update.get("emitted", 0)))
        trace, seconds = job.result(), perf_counter() - began
        arrivals, emitted = [], 0
        for round_ in trace["rounds"]:
            emitted += round_["emitted"]
            arrivals.append(next((at for at, count in updates if count >= emitted), seconds))
        return Way(seconds, tuple(arrivals))

    return run


def _page(page: Page) -> Callable[[Settings], Way]:
    """A person who presses Run; the clock stops when the last round is drawn."""

    def run(settings: Settings) -> Way:
        page.fill("#prompt textarea", PROMPT)
        for name in ("max_new_tokens", "gamma"):
            _set_number(page, t(f"app.{name}.label"), getattr(settings, name))
        page.click("#run")
        page.wait_for_function("window.drawn !== null")
        page.wait_for_function("document.querySelector('#run-line p').classList.contains('done')")
        page.wait_for_timeout(SETTLING_MS)
        arrivals = page.evaluate("window.drawn")
        return Way(arrivals[-1], tuple(arrivals))

    return run


def _set_number(page: Page, label: str, value: int) -> None:
    box = page.locator("#settings").get_by_label(f"number input for {label}")
    for _ in range(TYPING_TRIES):  # the panel, just unfolded, may still put its first value over what is typed
        box.fill(str(value))
        box.press("Tab")
        page.wait_for_timeout(SETTLING_MS)
        if box.input_value() == str(value):
            return
    raise RuntimeError(f"The page keeps {box.input_value()} for {label}.")


@contextmanager
def opened_page(url: str) -> Iterator[Page]:
    """The page in headless Chromium, its settings unfolded and its models loaded."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE_SECONDS * 1000)
        page.goto(url)
        page.locator("#run-view .rv-round").first.wait_for()
        page.wait_for_function("document.querySelector('#models-line p').classList.contains('done')")
        page.get_by_role("button", name=t("app.settings")).first.click()
        page.get_by_label(t("app.beside.label")).uncheck()  # it would run beside what is measured next
        page.evaluate(_WATCH)
        yield page
        browser.close()


@contextmanager
def launched_app(*options: str) -> Iterator[str]:
    """The address of `python app.py` with these options on a free port, until it is left."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "app.py", "--port", str(port), *options]
    here = os.environ | {"GRADIO_SERVER_NAME": "127.0.0.1"}
    app = subprocess.Popen(command, cwd=ROOT, env=here, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, app)
        yield url
    finally:
        app.terminate()
        app.wait()


def _wait_for(url: str, app: subprocess.Popen[Any]) -> None:
    deadline = monotonic() + PATIENCE_SECONDS
    while monotonic() < deadline:
        if app.poll() is not None:
            raise RuntimeError(f"app.py ended with {app.returncode}.")
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, TimeoutError):
            sleep(0.2)
    raise RuntimeError("app.py did not answer.")


def _seconds(values: Sequence[float]) -> str:
    return " to ".join(f"{value:.2f}" for value in values)
