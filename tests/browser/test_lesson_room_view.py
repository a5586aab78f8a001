"""A class in Chromium: the teacher at the projector, students on their phones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from tests.class_page import class_page  # noqa: E402
from visualizations.lesson.room import Rooms  # noqa: E402
from visualizations.text import t  # noqa: E402

BARS = """() => [...document.querySelectorAll('#room li')].map((row) =>
  [row.querySelector('b').textContent, Math.round(parseFloat(row.querySelector('.rm-bar').style.inlineSize))])"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with class_page(Rooms()) as url:
        yield url


@pytest.fixture
def phones(browser) -> Iterator[list[Page]]:
    """Two students, each with a browser of their own."""
    contexts = [browser.new_context(viewport={"width": width, "height": 700}) for width in (375, 900)]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def tell(page: Page, event: str, **detail: object) -> bool:
    """What other parts of the page tell the document. False when somebody took it."""
    script = "([name, detail]) => document.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }))"
    return page.evaluate(script, [f"specdec:{event}", detail])


def answer(page: Page, question: str, option: int) -> None:
    tell(page, "answered", question=question, answer=option, right=False)


def unfold(page: Page, url: str) -> None:
    page.goto(url)
    page.click("#room summary")


def open_room(page: Page, url: str) -> str:
    """The link for the students."""
    unfold(page, url)
    page.click("#room .rm-open")
    expect(page.locator("#room .rm-code")).to_have_text(re.compile("^[A-Z]{4}$"))
    return page.locator("#room .rm-link").get_attribute("href")


def shows(page: Page, *bars: list[object]) -> None:
    """The teacher's page comes to show these counts and lengths of bars, in percent."""
    page.wait_for_function(f"(wanted) => JSON.stringify(({BARS})()) === JSON.stringify(wanted)", arg=list(bars))


def test_a_class_votes_and_the_teacher_sees_counts_alone(page: Page, phones: list[Page], url: str) -> None:
    link = open_room(page, url)
    code = page.locator("#room .rm-code").inner_text()
    assert link == f"{url}#tab=lesson&room={code}"
    tell(page, "lesson-page", key="refill")
    shows(page, ["0", 0], ["0", 0], ["0", 0])

    by_link, by_code = phones
    by_link.goto(link)
    unfold(by_code, url)
    by_code.fill("#room .rm-typed", code.lower())
    by_code.click("#room .rm-join")
    for phone in phones:
        expect(phone.locator("#room .rm-in")).to_have_text(t("room.in_room", code=code))
        tell(phone, "lesson-page", key="refill")
        assert phone.locator("#room li").count() == 0, "a student sees no count"
    assert by_link.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answer(by_link, "refill", 2)
    expect(by_link.locator("#room .rm-foot")).to_have_text(t("room.counted"))
    answer(by_link, "refill", 0)
    expect(by_link.locator("#room .rm-foot")).to_have_text(t("room.first_stands"))
    shows(page, ["0", 0], ["0", 0], ["1", 100])
    for n in range(10):
        answer(by_code, f"coin.{n}", n % 2)
    answer(by_code, "a page's own number", 3)
    answer(by_code, "refill", 0)
    shows(page, ["1", 100], ["0", 0], ["1", 100])
    expect(page.locator("#room .rm-students")).to_have_text(t("room.students", count=2))
    tell(page, "lesson-page", key="coin")
    kept, rejected = [["1", 100], ["0", 0]], [["0", 0], ["1", 100]]
    shows(page, *(kept + rejected) * 5)

    page.click("#room .rm-close")
    expect(page.locator("#room .rm-said")).to_have_text(t("room.closed", code=code))
    answer(by_link, "faster", 0)
    expect(by_link.locator("#room .rm-said")).to_have_text(t("room.bad.over", code=code))


def test_a_room_outlives_a_reload_and_a_vote_a_lost_connection(page: Page, phones: list[Page], url: str) -> None:
    phone = phones[0]
    link = open_room(page, url)
    phone.goto(link)
    expect(phone.locator("#room .rm-in")).to_be_visible()
    phone.route("**/component_server/**", lambda route: route.abort())
    answer(phone, "faster", 1)
    expect(phone.locator("#room .rm-foot")).to_have_text(t("room.offline"))
    phone.unroute("**/component_server/**")
    phone.goto("about:blank")
    phone.goto(url)
    expect(phone.locator("#room .rm-foot")).to_have_text(t("room.counted"))
    page.reload()
    expect(page.locator("#room .rm-link")).to_have_attribute("href", link)
    expect(page.locator("#room .rm-students")).to_have_text(t("room.students", count=1))
    tell(page, "lesson-page", key="faster")
    shows(page, ["0", 0], ["1", 100])
    page.click("#room .rm-hide")
    expect(page.locator("#room li b").first).to_be_hidden()
    expect(page.locator("#room .rm-sum")).to_have_text(t("room.voted", votes=1, students=1))


def test_the_page_is_told_of_the_room_and_tells_of_it(page: Page, phones: list[Page], url: str) -> None:
    code = open_room(page, url)[-4:]
    phone = phones[0]
    phone.goto(url)
    phone.wait_for_selector("#room summary")
    phone.evaluate("document.addEventListener('specdec:room', ({ detail }) => (window.told ||= []).push(detail.code))")
    assert not tell(phone, "room", code=code), "nobody need tell it again"
    expect(phone.locator("#room .rm-in")).to_be_visible()
    phone.click("#room .rm-leave")
    expect(phone.locator("#room .rm-typed")).to_be_visible()
    assert phone.evaluate("told") == [code, code, None]
    tell(page, "room", code="BBBB")
    expect(page.locator("#room .rm-code")).to_have_text(code)


def test_raised_hands_fill_the_same_bars_without_a_server(page: Page) -> None:
    with class_page(None) as url:
        unfold(page, url)
        expect(page.locator("#room .rm-hands")).to_be_visible()
        expect(page.locator("#room .rm-open, #room .rm-enter").filter(visible=True)).to_have_count(0)
        page.click("#room .rm-hands")
        expect(page.locator("#room .rm-nothing")).to_be_visible()
        tell(page, "lesson-page", key="refill")
        asked = len(page.requests)
        for hands, option in (("5", "p_big"), ("-3", "p_small"), ("20", "The residual")):
            page.get_by_label(t("room.number", option=option, question="Where is it drawn from?")).fill(hands)
        lengths = "() => [...document.querySelectorAll('#room .rm-bar')].map((bar) => bar.style.inlineSize)"
        assert page.evaluate(lengths) == ["25%", "0%", "100%"]
        expect(page.locator("#room .rm-sum")).to_have_text(t("room.raised", votes=25))
        assert page.requests[asked:] == []
        page.reload()
        expect(page.locator("#room .rm-nothing")).to_be_visible()
        tell(page, "lesson-page", key="refill")
        expect(page.locator("#room .rm-sum")).to_have_text(t("room.raised", votes=25))
