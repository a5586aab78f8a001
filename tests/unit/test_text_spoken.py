"""Texts in several languages at once."""

from __future__ import annotations

import contextvars
import threading

import pytest

from visualizations.text import LANGUAGES, data, in_language, kept_as_spoken, pieces, section, spoken, t
from visualizations.text.texts import CLOSE, NEXT, OPEN

EVERY = list(LANGUAGES)


@pytest.mark.parametrize("language", EVERY)
def test_a_text_in_all_languages_holds_each_as_it_is_said_alone(language: str) -> None:
    with spoken([language]):
        alone = t("app.session.opened", emitted=3, runs=2)
    with spoken(EVERY):
        together = t("app.session.opened", emitted=3, runs=2)
    assert in_language(together, language) == alone
    assert together.startswith(OPEN) and together.endswith(CLOSE) and together.count(NEXT) == len(EVERY) - 1


def test_texts_in_a_text_and_beside_it_follow_its_language() -> None:
    def said() -> str:
        inner = t("figures.other")
        return " · ".join([t("app.recorded", example=inner), inner, "x"])

    with spoken(EVERY):
        together = said()
    for language in EVERY:
        with spoken([language]):
            assert in_language(together, language) == said()
    assert in_language(together, EVERY[0]) != in_language(together, EVERY[1])


def test_whatever_holds_texts_is_said_in_one_language_too() -> None:
    with spoken(EVERY):
        held = {"a": [t("figures.other"), 3, None], "b": {"c": t("app.run")}}
    assert in_language(held, "en") == {"a": [t("figures.other"), 3, None], "b": {"c": t("app.run")}}


def test_a_section_in_all_languages_has_the_same_shape() -> None:
    with spoken(EVERY):
        together = section("exact.questions")
    for language in EVERY:
        assert in_language(together, language) == section("exact.questions", language)


def test_pieces_keep_their_order_in_each_language() -> None:
    with spoken(EVERY):
        (both,) = pieces("exact.acceptance.position", number=3, draft=data("{x}"))
    for language in EVERY:
        with spoken([language]):
            assert both["in"][language] == pieces("exact.acceptance.position", number=3, draft=data("{x}"))


def test_what_is_the_same_in_all_languages_is_a_plain_text() -> None:
    with spoken(EVERY):
        assert t("app.language.en") == "English"


def test_outside_texts_are_english_and_another_thread_is_outside() -> None:
    heard = []
    with spoken(EVERY):
        thread = threading.Thread(target=lambda: heard.append(t("app.run")))
        thread.start()
        thread.join()
        contextvars.copy_context().run(lambda: heard.append(t("app.run")))
    assert heard[0] == t("app.run") == section("app.run", "en") != heard[1]


def test_what_is_kept_is_kept_for_each_way_of_speaking() -> None:
    made = []

    @kept_as_spoken
    def greeting() -> str:
        made.append(1)
        return t("app.run")

    with spoken(EVERY):
        together = greeting()
        assert greeting() == together
    assert greeting() == t("app.run") != together and len(made) == 2
