"""Every language says the same: the same keys, with the same marks for numbers, figures, formulas and headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from string import Formatter
from typing import Any

import pytest

from tests.phrases import ENGINE, FOR_PROGRAMS, PAGE, said_in_english, sources, taken_at_import, templates, unsayable
from visualizations.text import LANGUAGES, texts

OTHERS = tuple(language for language in LANGUAGES if language != "en")
FORMULA = re.compile(r"\$[^$]+\$")
PLACEHOLDER = re.compile(r"%?\{[^}]*\}+")
SIGN = re.compile(r"\w+_\w+")  # p_small, t_big
WORDS_OF_ALL = {"max", "min", "nats", "seq", "token", "top"}  # besides names, these stay as they are
NAMES = {"run_view.picture", "app.language.en"}  # of files, of languages
CHINESE = r"[\u3400-\u9fff]"
HALF_WIDTH = re.compile(rf"{CHINESE}\s*[,;:?!(]|[,;:?!(]\s*{CHINESE}|(?s:{CHINESE}.*)\.(?:\s|$)")

Sentences = dict[str, str]


def flat(found: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every sentence with its key, in the order of the file."""
    if isinstance(found, str):
        yield path.lstrip("."), found
        return
    for name, inner in found.items() if isinstance(found, dict) else enumerate(found):
        yield from flat(inner, f"{path}.{name}")


def sentences(language: str) -> Sentences:
    return dict(flat(json.loads((texts.HERE / f"{language}.json").read_text("utf-8"))))


def marks(sentence: str) -> dict[str, Any]:
    """All of a sentence that is no word: what is filled in, what plotly, markdown and KaTeX read."""
    words = FORMULA.sub("", sentence)
    return {
        "fields": sorted(field[1:] for field in Formatter().parse(words) if field[1] is not None),
        "plotly": sorted(re.findall(r"%\{+[^}]*\}+", words)),
        "formulas": sorted(FORMULA.findall(sentence)),
        "headings": re.findall(r"^#+ ", sentence, re.M),
        **{sign: sentence.count(sign) for sign in ("$", "**", "<br>", "\n", "\\n", "`")},
    }


def other_keys(english: Sentences, other: Sentences) -> list[str]:
    """The keys of one language only, or, where there are none, those that stand in another place."""
    apart = english.keys() ^ other.keys()
    return sorted(apart) if apart else [key for key, theirs in zip(english, other) if key != theirs]


def other_marks(english: Sentences, other: Sentences) -> list[str]:
    return [key for key in english.keys() & other.keys() if marks(english[key]) != marks(other[key])]


def untranslated(english: Sentences, other: Sentences) -> list[str]:
    def words(sentence: str) -> set[str]:
        for signs in (FORMULA, PLACEHOLDER, SIGN):
            sentence = signs.sub(" ", sentence)
        return {word.lower() for word in re.findall(r"[A-Za-z]{3,}", sentence)} - WORDS_OF_ALL

    same = [key for key in english.keys() & other.keys() if english[key] == other[key]]
    return [key for key in same if key not in NAMES and words(english[key])]


def half_width(_: Sentences, other: Sentences) -> list[str]:
    """Chinese that ends, or goes on, with a sign of Western writing."""
    return [key for key, sentence in other.items() if HALF_WIDTH.search(PLACEHOLDER.sub("0", sentence))]


def unclosed_bold(_: Sentences, other: Sentences) -> list[str]:
    """To markdown, ** between a full-width sign and a letter does not end what is bold."""

    def unclosed(sentence: str) -> bool:
        parts = sentence.split("**")
        return any(re.search(r"[^\w\s]$", bold) and re.match(r"\w", after) for bold, after in zip(parts[1::2], parts[2::2]))

    return [key for key, sentence in other.items() if unclosed(sentence)]


FAULTS = (other_keys, other_marks, untranslated, half_width, unclosed_bold)


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("language", OTHERS)
def test_every_language_says_the_same(language, faults):
    assert faults(sentences("en"), sentences(language)) == []


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("language", OTHERS)
def test_every_language_says_what_the_engine_says(language, faults):
    english = templates(sources(ENGINE) + sources(PAGE))
    assert faults(english, json.loads((texts.HERE / f"phrases_{language}.json").read_text("utf-8"))) == []


def test_whatever_is_said_for_a_person_can_be_said_in_every_language():
    assert unsayable(sources(ENGINE) + sources(PAGE)) == []
    assert said_in_english(sources(PAGE, without=FOR_PROGRAMS)) == []
    assert taken_at_import(sources(PAGE)) == []


@pytest.mark.parametrize(
    "source",
    [
        'raise BadInput(f"{value} is bad.")',
        'raise settings.BadInput(f"{value} is bad.")',
        'raise BadInput("It is bad: " + value)',
        'raise BadInput(why)',
        'raise BadInput("{value} is bad.")',
        'raise BadInput("{value} is bad.", number=value)',
        'raise BadInput("{value} is bad.", **values)',
        'class Worse(Bad): ...\nclass Bad(BadInput): ...\nraise Worse(f"{value} is bad.")',
        'Progress("load", Phrase(f"Loading {name}…"))',
    ],
)  # fmt: skip
def test_what_no_table_can_hold_is_found(source):
    assert unsayable([source])


@pytest.mark.parametrize(
    "source",
    ['WAITING = t("a.b")', 'LINE = f"{json.dumps(t(key))}"', 'def f(words=t("a.b")): ...', 'class A:\n    words = t("a.b")'],
)
def test_a_text_that_is_taken_when_its_module_is_imported_is_found(source):
    assert taken_at_import([source])
    assert taken_at_import(["def later():\n    return t('a.b')", "later = lambda: t('a.b')"]) == []


def test_what_a_table_or_a_text_of_the_page_says_is_no_fault():
    plain = ['BadInput("{value} is bad.", value=shown(value))', 'BadInput("It is.")', 'BadInput(t("a.b", n=1))']
    assert unsayable(plain) == []


def test_a_refusal_nobody_has_translated_and_a_translation_of_none_are_found():
    said = templates(['raise BadInput("It is bad.")', 'a = Phrase("worse")'])
    assert other_keys(said, {"It is bad.": "不好。"}) == ["worse"]
    assert other_keys(said, {"It is bad.": "不好。", "best": "最好", "worse": "更差"}) == ["best"]


def test_a_refusal_shown_in_english_alone_is_found():
    caught = "try: run()\nexcept {} as refusal: return status({})"
    assert said_in_english([caught.format("BadInput", "str(refusal)")])
    assert said_in_english([caught.format("(OSError, BadInput)", "str(refusal)")])
    others = [caught.format("BadInput", "say(refusal.phrase)"), caught.format("OSError", "str(refusal)")]
    assert said_in_english(others) == []


def test_chinese_is_one_of_the_languages():
    assert "zh" in OTHERS


@pytest.mark.parametrize(
    ("faults", "english", "chinese"),
    [
        (other_keys, {"a": "yes"}, {}),
        (other_keys, {"a": "yes"}, {"a": "是", "b": "否"}),
        (other_keys, {"a": "yes", "b": "no"}, {"b": "否", "a": "是"}),
        (other_marks, {"a": "{n} rounds"}, {"a": "轮"}),
        (other_marks, {"a": "{n} rounds"}, {"a": "{m} 轮"}),
        (other_marks, {"a": "{n:.2f} rounds"}, {"a": "{n:.3f} 轮"}),
        (other_marks, {"a": "%{x} rounds"}, {"a": "{x} 轮"}),
        (other_marks, {"a": "%{{x}} of {n}"}, {"a": "%{{y}} / {n}"}),
        (other_marks, {"a": "one<br>two"}, {"a": "一，二"}),
        (other_marks, {"a": "**bold** and plain"}, {"a": "粗体与普通"}),
        (other_marks, {"a": "costs $n$"}, {"a": "花费 n"}),
        (other_marks, {"a": "costs $t_{\\text{big}}$"}, {"a": "花费 $t_{\\text{大}}$"}),
        (other_marks, {"a": "## Title"}, {"a": "标题"}),
        (other_marks, {"a": "## Title"}, {"a": "### 标题"}),
        (untranslated, {"a": "the draft {n}"}, {"a": "the draft {n}"}),
        (half_width, {}, {"a": "草稿被接受."}),
        (half_width, {}, {"a": "接受‘{draft}’. 然后"}),
        (half_width, {}, {"a": "接受率, α"}),
        (half_width, {}, {"a": "α (接受率)"}),
        (unclosed_bold, {}, {"a": "**预填充：**读提示词"}),
    ],
)  # fmt: skip
def test_each_kind_of_fault_is_found(faults, english, chinese):
    assert faults(english, chinese)


@pytest.mark.parametrize("faults", FAULTS)
def test_what_is_right_is_no_fault(faults):
    english = {"a": "## {n} of %{x}: $t_{\\text{big}}$", "b": "Top-p {p:.2f}, min(p_small, p_big)", "c": "**Kept** below 0.5."}
    chinese = {"a": "## %{x} 中 {n} 个：$t_{\\text{big}}$", "b": "Top-p {p:.2f}, min(p_small, p_big)", "c": "小于 0.5 就**接受**。"}
    assert faults(english, chinese) == []
