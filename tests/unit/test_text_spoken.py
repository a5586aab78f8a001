"""Texts in several languages at once."""

from __future__ import annotations

import contextvars
import threading

import pytest

from specdec.settings import BadInput, Phrase, Settings
from visualizations.text import LANGUAGES, data, in_language, kept_as_spoken, pieces, say, section, spoken, t
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


def refused(**values: object) -> Phrase:
    with pytest.raises(BadInput) as refusal:
        Settings.checked(**values)
    return refusal.value.phrase


def test_a_refusal_of_the_engine_is_said_in_every_language_whoever_raised_it() -> None:
    gamma, temperature = refused(gamma=3.5), refused(temperature="{热}")
    assert say(gamma) == str(gamma) == "gamma must be a whole number from 0 to 16, not 3.5."
    with spoken(EVERY):
        assert in_language(say(gamma), "zh") == "gamma 必须是 0 到 16 的整数，不能是 3.5。"
        assert in_language(say(gamma), "en") == str(gamma)
        assert in_language(say(temperature), "zh") == "temperature 必须是 0 到 10 的数，不能是 '{热}'。"


def test_a_phrase_in_a_sentence_of_the_page_follows_its_language() -> None:
    title = Phrase("SmolLM2-135M ← our student")
    with spoken(EVERY):
        together = t("app.loaded", pair=title)
    for language in EVERY:
        with spoken([language]):
            assert in_language(together, language) == t("app.loaded", pair=say(title))
    assert "学生模型" in in_language(together, "zh") and "our student" in in_language(together, "en")


def test_what_the_engine_does_not_say_stays_as_it_is() -> None:
    with spoken(EVERY):
        own = t("app.no_run.lost")
        assert say(BadInput(own).phrase) == own
        assert say("owner/model ← {x}") == "owner/model ← {x}"
        assert say(Phrase("Nobody has translated {this}.", this=1)) == "Nobody has translated 1."


def test_what_comes_from_outside_breaks_no_sentence() -> None:
    hostile = f"{{0}} {OPEN}a{CLOSE} {NEXT} {OPEN}"
    with spoken(EVERY):
        said = say(Phrase("{name} must be {limit}, not {value}.", name="x", limit=Phrase("the file"), value=hostile))
        assert "整个文件" in said and "the file" in said and "{0}" in said
