"""The page in English and Chinese: chosen by the browser, by the address or by a button, without a reload."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Browser, BrowserContext, Page, expect  # noqa: E402

from specdec.models.pairs import Pair  # noqa: E402
from tests.launched import launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from visualizations.lesson.pages import lesson_pages  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.text import section, spoken, t  # noqa: E402
from visualizations.text.texts import HERE  # noqa: E402

PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)
TABS = "[role=tab]"
SIGNS = r"/[\ufdd0-\ufdd2]/"
# Every text, attribute and value of a control that shows a text with all its versions.
UNCHOSEN = """() => {
  const signs = %s, found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    if (node.nodeType === 3 && signs.test(node.data) && !node.parentElement.closest('script, style')) found.push(node.data);
    if (node.nodeType !== 1) continue;
    for (const { name, value } of node.attributes) if (signs.test(value) && name !== 'data-testid') found.push(name + ': ' + value);
    if ('value' in node && signs.test(node.value)) found.push(node.value);
  }
  return found;
}""" % SIGNS
# What a person reads, less what people, models and other languages wrote, and less numbers, signs and names.
WORDS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const box = node.parentElement;
    if (box.closest('script, style, [translate=no], [lang=""], footer, .katex, option, #lesson-glossary') || !box.checkVisibility()) continue;
    if (node.data.trim()) found.push(node.data.trim());
  }
  return found;
}"""


@pytest.fixture(scope="module")
def app_url(table_pair: Callable[..., Pair]) -> Iterator[str]:
    with launched(only(table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]))) as url:
        yield url


@pytest.fixture(scope="module")
def visitor(browser: Browser) -> Iterator[Callable[[str], BrowserContext]]:
    """visitor(locale): whose browser is set so. An empty page keeps what the pages opened there have compiled."""

    @cache
    def of(locale: str) -> BrowserContext:
        context = browser.new_context(locale=locale, viewport={"width": 1280, "height": 900})
        context.new_page()
        made.append(context)
        return context

    made: list[BrowserContext] = []
    yield of
    for context in made:
        context.close()


def opened(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda fault: page.faults.append(str(fault)))
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.locator("#run-view .rv-token").first.wait_for()
    return page


def said(key: str, language: str, **values: object) -> str:
    with spoken([language]):
        return t(key, **values)


def choose(page: Page, language: str) -> None:
    page.locator(f"#language button[data-chooses={language}]").click()


def close(page: Page) -> None:
    page.evaluate("localStorage.clear()")
    page.close()
    assert page.faults == []


@pytest.mark.parametrize(("locale", "language", "tag"), [("en-GB", "en", "en"), ("zh-CN", "zh", "zh-Hans"), ("fr", "en", "en")])
def test_the_browsers_language_is_the_first(visitor: Callable[[str], BrowserContext], app_url: str, locale: str, language: str, tag: str) -> None:
    page = opened(visitor(locale), app_url)
    expect(page.locator("#run")).to_have_text(said("app.run", language))
    expect(page.locator("html")).to_have_attribute("lang", tag)
    expect(page).to_have_title(said("app.title", language))
    close(page)


def test_the_address_outweighs_the_browser_and_a_choice_is_remembered(visitor: Callable[[str], BrowserContext], app_url: str) -> None:
    page = opened(visitor("en-GB"), app_url + "?lang=zh")
    expect(page.locator("#run")).to_have_text(said("app.run", "zh"))
    page.goto(app_url)
    expect(page.locator("#run")).to_have_text(said("app.run", "en"))
    choose(page, "zh")
    expect(page.locator("#run")).to_have_text(said("app.run", "zh"))
    page.reload()
    expect(page.locator("#run")).to_have_text(said("app.run", "zh"))
    close(page)


def test_a_choice_reaches_every_word_in_every_tab_without_a_request(visitor: Callable[[str], BrowserContext], app_url: str) -> None:
    page = opened(visitor("en-GB"), app_url)
    page.get_by_role("button", name=t("app.settings")).first.click()
    names = [said(key, "zh") for key in ("app.tabs.step_through", "exact.tab", "faster.tab", "drafting.tab")]
    for tab in page.locator(TABS).all():  # a tab is built when it is first seen
        tab.click()
        page.wait_for_timeout(700)
    page.locator(TABS).first.click()
    until_loaded(page)
    position = page.locator("#run-view .rv-place").inner_text()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    choose(page, "zh")
    page.wait_for_timeout(700)
    assert asked == []
    for name, tab in zip(names, page.locator(TABS).all()):
        expect(tab).to_have_text(name)
        tab.click()
        page.wait_for_timeout(700)
        assert page.evaluate(UNCHOSEN) == []
        english = [words for words in page.evaluate(WORDS) if words in english_sentences()]
        assert english == [], name
    page.locator(TABS).first.click()
    assert page.get_by_label(said("app.rule.label", "zh")).first.input_value() == said("app.rule.token", "zh")
    choose(page, "en")
    expect(page.locator("#run-view .rv-place")).to_have_text(position)
    assert page.evaluate(UNCHOSEN) == []
    close(page)


def english_sentences() -> set[str]:
    """Sentences that are said otherwise in Chinese, but for those with numbers in them."""

    def flat(found: object) -> Iterator[str]:
        if isinstance(found, str):
            yield found
        else:
            for inner in found.values() if isinstance(found, dict) else found:
                yield from flat(inner)

    every = [(e, z) for part in section_names() for e, z in zip(flat(section(part, "en")), flat(section(part, "zh")))]
    return {english for english, chinese in every if english != chinese and len(english) > 3}


def section_names() -> list[str]:
    return list(json.loads((HERE / "en.json").read_text("utf-8")))


def test_what_the_engine_refuses_and_calls_its_models_is_said_in_the_readers_language(visitor: Callable[[str], BrowserContext], app_url: str) -> None:
    page = opened(visitor("en-GB"), app_url + "?lang=zh")
    expect(page.locator("#models-line")).to_contain_text("就绪：SmolLM2-135M ← 我们的学生模型。")
    page.get_by_role("button", name=said("app.settings", "zh")).first.click()
    pair = page.get_by_label(said("app.pair.label", "zh"), exact=True).first
    expect(pair).to_have_value("SmolLM2-135M ← 我们的学生模型")
    gamma = page.locator("#settings .block").filter(has_text=said("app.gamma.info", "zh")).locator("input[type=number]")
    gamma.fill("3.5")
    page.locator("#run").click()
    line = page.locator("#run-line")
    expect(line).to_contain_text("gamma 必须是 0 到 16 的整数，不能是 3.5。")
    upload = page.locator("#upload").locator("xpath=..").locator("input[type=file]")
    upload.set_input_files({"name": "a.json", "mimeType": "application/json", "buffer": b"[]"})
    expect(line).to_contain_text("文件：整个文件：它应当是一个对象。")
    choose(page, "en")
    expect(line).to_contain_text("file: the file: it should be an object.")
    assert page.evaluate(UNCHOSEN) == []
    close(page)


def test_sentences_with_what_models_wrote_change_too(visitor: Callable[[str], BrowserContext], app_url: str) -> None:
    page = opened(visitor("en-GB"), app_url)
    sentence = page.locator("#run-view .rv-sentence")
    english = sentence.inner_text()
    choose(page, "zh")
    expect(sentence).not_to_have_text(english)
    written = [position.text for position in recorded_trace(examples()[0]).positions]
    label = sentence.locator("bdi").first
    assert label.get_attribute("translate") == "no" and label.inner_text().replace("␣", " ") in written
    page.locator("#run-view .rv-next").click()
    page.locator("#run-view .rv-previous").click()
    choose(page, "en")
    expect(sentence).to_have_text(english)
    close(page)


def test_what_a_person_types_is_never_taken_for_a_text_of_the_page(visitor: Callable[[str], BrowserContext], app_url: str) -> None:
    page = opened(visitor("en-GB"), app_url)
    hostile = "\ufdd0a\ufdd1b\ufdd2 ${x} <img src=x onerror=alert(1)>"
    page.fill("#prompt textarea", hostile)
    choose(page, "zh")
    assert page.input_value("#prompt textarea") == hostile
    close(page)


# Names and signs that are the same in both languages.
LATIN = {"Brier", "English", "logit", "Shift", "SmolLM", "smollm", "Instruct", "student", "small", "token", "nats", "bfloat", "float", "Intel", "Xeon", "Processor", "cores"}


@pytest.mark.parametrize("width", [1280, 375])
def test_the_whole_lesson_speaks_chinese_with_all_its_answers_and_fits(visitor: Callable[[str], BrowserContext], app_url: str, width: int) -> None:
    page = opened(visitor("zh-CN"), app_url)
    page.set_viewport_size({"width": width, "height": 900})
    page.locator(TABS).last.click()
    for number, key in enumerate((each.key for each in lesson_pages()), 1):
        page.locator(".ls-page").nth(number - 1).click()
        shown = page.locator(f"#lesson-{key}.lesson-current")
        shown.locator(".qu").wait_for()
        if shown.locator(".qu-show:visible").count():
            shown.locator(".qu-show:visible").click()
        for asked in shown.locator("summary:visible").all():
            asked.click()
        page.wait_for_timeout(300)
        assert page.evaluate(UNCHOSEN) == [], key
        said_here = re.sub("‘[^’]*’|“[^”]*”", " ", " ".join(page.evaluate(WORDS)))  # without what is quoted of a text
        latin = set(re.findall(r"[A-Za-z]{5,}", said_here))
        assert latin <= LATIN, key
        assert page.evaluate("document.documentElement.scrollWidth") <= width, key
    close(page)
