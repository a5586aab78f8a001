"""Finished runs of the examples: what is kept, for whom, and when the models are asked all the same."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from specdec.models.catalogue import CATALOGUE, DEFAULT_PAIR
from specdec.settings import BadInput, Settings
from tests.made_trace import made_trace
from visualizations.components.settings_form import form_values
from visualizations.serving.first_pair import startable
from visualizations.serving.inputs import CUSTOM, PairChoice
from visualizations.serving.shelf import ModelShelf
from visualizations.step_through.answered import DAY, HOUR, MINUTE, ago
from visualizations.step_through.examples import examples
from visualizations.step_through.finished import Canned, Finished, FinishedRuns, canned
from visualizations.step_through.handlers import run_wish
from visualizations.step_through.kept_run import trace_on_screen
from visualizations.step_through.run_view import ShownRun
from visualizations.step_through.until import Until
from visualizations.step_through.wishes import read_wish
from visualizations.text import LANGUAGES, in_language, spoken

EXAMPLE = examples()[0]
CHOICE = PairChoice(DEFAULT_PAIR)
NO_UNTIL = (False, False, "", "", "")
ENDED = "Finished."
AGAIN = {"wish": "again", "example": EXAMPLE.key, "pair": DEFAULT_PAIR}


def keys(count: int) -> list[Canned]:
    return [Canned(str(number), DEFAULT_PAIR) for number in range(count)]


def whole() -> ShownRun:
    return ShownRun.whole(made_trace(), "run")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_run_is_found_with_its_age_and_the_newest_stands_for_it() -> None:
    clock, (key, other) = Clock(), keys(2)
    runs, first, second = FinishedRuns(clock=clock), whole(), whole()
    assert runs.get(key) is None and runs.get(None) is None
    runs.keep(key, first, ENDED)
    clock.now = 90.0
    assert runs.get(key) == Finished(first, ENDED, 90.0)
    assert runs.get(other) is None
    runs.keep(key, second, ENDED)
    assert runs.get(key) == Finished(second, ENDED, 0.0)


def test_the_one_used_longest_ago_makes_room() -> None:
    runs, (one, two, three) = FinishedRuns(most=2), keys(3)
    runs.keep(one, whole(), ENDED)
    runs.keep(two, whole(), ENDED)
    assert runs.get(one)
    runs.keep(three, whole(), ENDED)
    assert runs.get(one) and runs.get(three)
    assert runs.get(two) is None


def test_only_a_run_that_came_to_its_own_end_is_kept() -> None:
    runs, (key,) = FinishedRuns(), keys(1)
    trace = made_trace()
    cut_off = ShownRun.whole(replace(trace, output=replace(trace.output, stop_reason="cancelled")), "run")
    under_way = whole()
    under_way.go_on()
    for run in (None, cut_off, under_way):
        runs.keep(key, run, ENDED)
    runs.keep(None, whole(), ENDED)
    assert runs.get(key) is None


def test_many_threads_may_ask_and_keep() -> None:
    runs, made = FinishedRuns(most=3), [whole() for _ in range(2)]
    wrong = []

    def use(number: int) -> None:
        for key in keys(6) * 40:
            runs.keep(key, made[number % 2], ENDED)
            found = runs.get(key)
            if found and found.run not in made:
                wrong.append(found)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sum(runs.get(key) is not None for key in keys(6)) == 3


def test_each_example_is_known_on_every_pair_of_the_catalogue_and_by_nothing_else() -> None:
    for pair in CATALOGUE:
        choice = PairChoice(pair)
        for example in examples():
            settings = startable(example.settings, choice)
            assert canned(choice, example.prompt, settings) == Canned(example.key, pair)
            assert canned(choice, example.prompt + " ", settings) is None
            assert canned(choice, example.prompt, settings.changed(seed=settings.seed + 1)) is None
            assert canned(choice, example.prompt, settings.changed(stop_strings=("my own",))) is None
            assert canned(PairChoice(CUSTOM, "a/b", "c/d"), example.prompt, settings) is None


class CountedShelf(ModelShelf):
    asked = 0

    def using(self, *args: Any) -> Any:
        self.asked += 1
        return super().using(*args)


@pytest.fixture
def shelf(table_pair: Any) -> CountedShelf:
    pair = table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    pair.tokenizer.chat_template = "{{ messages[0].content }}"
    return CountedShelf(lambda choice, note: pair)


def asked_for(
    shelf: ModelShelf, finished: FinishedRuns, wish: Any = None, prompt: str = EXAMPLE.prompt,
    settings: Settings = EXAMPLE.settings, until: tuple[Any, ...] = NO_UNTIL,
) -> tuple[Any, ...]:  # fmt: skip
    """The last that a wish shows: the view, the line, what the page holds, the run."""
    values = (*until, *form_values(settings, CHOICE))
    *_, last = run_wish(shelf, finished, threading.Event(), wish or {}, prompt, *values)
    return last


def test_who_asks_for_a_finished_example_gets_its_run_without_the_models(shelf: CountedShelf) -> None:
    finished = FinishedRuns()
    _, _, ran, _ = asked_for(shelf, finished)
    view, line, held, run = asked_for(shelf, finished)
    assert shelf.asked == 1
    assert trace_on_screen(held) == trace_on_screen(ran)
    assert view["run"] == run.run == held["run"] != ran["run"], "a run of its own on the page"
    assert view["first"] == 0 and len(view["rounds"]) == len(trace_on_screen(ran).rounds) and not view["running"]
    assert "Decoded just now" in line["text"] and line["mood"] == "done"
    assert "beside" not in line, "plain decoding now says nothing about a run of then"
    _, line, fresh, _ = asked_for(shelf, finished, line["button"]["wish"])
    assert shelf.asked == 2 and "button" not in line
    assert trace_on_screen(fresh).output == trace_on_screen(ran).output
    assert trace_on_screen(asked_for(shelf, finished)[2]) == trace_on_screen(fresh), "the newer one stands for it"


def test_who_waits_gets_the_run_that_another_finishes_meanwhile() -> None:
    finished, loaded = FinishedRuns(), threading.Event()
    shelf = ModelShelf(lambda choice, note: loaded.wait())
    steps = run_wish(shelf, finished, threading.Event(), {}, EXAMPLE.prompt, *NO_UNTIL, *form_values(EXAMPLE.settings, CHOICE))
    assert next(steps)[1]["mood"] == "busy"
    run = whole()
    finished.keep(Canned(EXAMPLE.key, DEFAULT_PAIR), run, ENDED)
    *_, (view, line, held, _) = steps
    loaded.set()
    assert line["button"] and line["text"].startswith(ENDED) and held["trace"] == run.record.trace().to_json()
    assert view["rounds"] == run.since(0)["rounds"]


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "Why is the sky red?"},
        {"settings": EXAMPLE.settings.changed(seed=EXAMPLE.settings.seed + 1)},
        {"settings": EXAMPLE.settings.changed(gamma=EXAMPLE.settings.gamma + 1)},
        {"until": (False, True, "", "", "")},
    ],
    ids=["prompt", "seed", "setting", "pause"],
)
def test_what_differs_is_decoded_and_not_kept(shelf: CountedShelf, changed: dict[str, Any]) -> None:
    finished = FinishedRuns()
    asked_for(shelf, finished)
    for asked in (2, 3):
        assert "button" not in asked_for(shelf, finished, **changed)[1]
        assert shelf.asked == asked


def test_a_stopped_run_answers_nobody(shelf: CountedShelf) -> None:
    finished, stop = FinishedRuns(), threading.Event()
    steps = run_wish(shelf, finished, stop, {}, EXAMPLE.prompt, *NO_UNTIL, *form_values(EXAMPLE.settings, CHOICE))
    next(steps)
    stop.set()
    list(steps)
    assert "button" not in asked_for(shelf, finished)[1]
    assert shelf.asked == 2


@pytest.mark.parametrize("wrong", [{"example": "none"}, {"example": ["facts"]}, {"pair": CUSTOM}, {"pair": None}])
def test_only_an_example_on_a_pair_of_the_catalogue_is_run_again(wrong: dict[str, Any]) -> None:
    values = (*NO_UNTIL, *form_values(EXAMPLE.settings, CHOICE))
    assert read_wish(AGAIN, None, values).until == Until()
    with pytest.raises(BadInput):
        read_wish(AGAIN | wrong, None, values)


@pytest.mark.parametrize(
    "seconds, english, chinese",
    [
        (0.2, "just now", "刚刚"),
        (MINUTE, "a minute ago", "一分钟前"),
        (2.9 * MINUTE, "2 minutes ago", "2 分钟前"),
        (HOUR, "an hour ago", "一小时前"),
        (23.9 * HOUR, "23 hours ago", "23 小时前"),
        (DAY, "a day ago", "一天前"),
        (9 * DAY, "9 days ago", "9 天前"),
    ],
)
def test_how_long_ago_is_said_in_words(seconds: float, english: str, chinese: str) -> None:
    with spoken(LANGUAGES):
        said = ago(seconds)
    assert [in_language(said, language) for language in ("en", "zh")] == [english, chinese]
