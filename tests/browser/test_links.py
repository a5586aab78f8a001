"""The page's address in Chromium: it tells what is on screen, and opening it brings that back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from specdec.models.catalogue import DEFAULT_PAIR  # noqa: E402
from tests.launched import chatty, launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from visualizations.step_through.examples import examples  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
expect.set_options(timeout=PATIENCE)
HOSTILE = "${document.title} `x` \\ <img src=x onerror=alert(1)> {{value}}\nline two 你好 %41"
FIRST = examples()[0]
ADDRESS = "location.hash"


@pytest.fixture(scope="module")
def url(pair_of: Any) -> Iterator[str]:
    from specdec.models.table import TableModel

    made = chatty(pair_of(TableModel([0.4, 0.3, 0.2, 0.1]), TableModel([0.1, 0.2, 0.3, 0.4]), eos_ids=[]))
    with launched(only(replace(made, info=replace(made.info, name=DEFAULT_PAIR)))) as url:
        yield url


def opened(page: Page, url: str, fragment: str = "", query: str = "") -> Page:
    """The page, freshly loaded at an address, once it tells its own."""
    page.set_default_timeout(PATIENCE)
    page.goto("about:blank")
    page.goto(f"{url}{query}{'#' + fragment if fragment else ''}")
    page.wait_for_function("new URLSearchParams(location.hash.slice(1)).get('tab')")
    return page


def address(page: Page) -> dict[str, str]:
    return {key: value for key, (value,) in parse_qs(urlsplit(page.url).fragment).items()}


def wait_for_address(on: Page, **said: str) -> None:
    for key, value in said.items():
        on.wait_for_function("([key, value]) => new URLSearchParams(location.hash.slice(1)).get(key) === value", arg=[key, value])


def visit(page: Page, fragment: str) -> None:
    """What pasting another fragment into the address of the open page does."""
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)


def prompt(page: Page) -> Any:
    return page.locator("#prompt textarea")


def notice(page: Page) -> Any:
    return page.locator("#page-link p")


def place(page: Page) -> Any:
    return page.locator("#run-view .rv-place")


def selected_tab(page: Page) -> Any:
    return page.locator("[role=tab][aria-selected=true]")


def at_position(page: Page, index: int) -> None:
    expect(place(page)).to_contain_text(t("run_view.place", index=index, count="").strip())


def test_the_link_of_what_is_on_screen_opens_it_again(page: Page, url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, url)
    page.get_by_role("button", name=t("app.examples.list"), exact=True).click()
    wait_for_address(page, example="list")
    page.locator("#run-view .rv-token").nth(7).click()
    at = place(page).inner_text()
    until_loaded(page)
    asked = len(page.requests)
    page.get_by_role("button", name=t("links.copy"), exact=True).click()
    expect(notice(page)).to_have_text(t("links.copied"))
    assert len(page.requests) == asked
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url and "position=" in link
    opened(page, url, urlsplit(link).fragment)
    expect(place(page)).to_have_text(at)
    expect(prompt(page)).to_have_value(next(example for example in examples() if example.key == "list").prompt)
    assert page.url == link


def test_back_and_forward_bring_tabs_and_examples_but_not_every_position(page: Page, url: str) -> None:
    opened(page, url)
    expect(page.locator("#run-view .rv-token").first).to_be_visible()
    steps = page.evaluate("history.length")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    wait_for_address(page, position=place(page).inner_text().split()[1])
    at = place(page).inner_text()
    assert page.evaluate("history.length") == steps
    page.get_by_role("button", name=t("app.examples.code"), exact=True).click()
    wait_for_address(page, example="code")
    page.get_by_role("tab", name=t("drafting.tab")).click()
    wait_for_address(page, tab="drafting")
    assert page.evaluate("history.length") == steps + 2
    page.go_back()
    expect(selected_tab(page)).to_have_text(t("app.tabs.step_through"))
    page.go_back()
    expect(prompt(page)).to_have_value(FIRST.prompt)
    expect(place(page)).to_have_text(at)
    page.go_forward()
    expect(page.locator("#run-line")).to_contain_text(t("app.examples.code"))
    page.go_forward()
    expect(selected_tab(page)).to_have_text(t("drafting.tab"))
    assert page.evaluate("history.length") == steps + 2


def test_a_prompt_only_fills_the_boxes_until_run_is_pressed(page: Page, url: str) -> None:
    opened(page, url, "tab=step-through&prompt=t1+t2&temperature=0.8&gamma=3&rule=block&max_new_tokens=9&chat=false&seed=7&position=5")
    expect(prompt(page)).to_have_value("t1 t2")
    expect(notice(page)).to_have_text(t("links.filled"))
    until_loaded(page)
    expect(page.locator("#run-line")).to_contain_text(t(f"app.examples.{FIRST.key}"))
    assert not [asked for asked in page.requests if "queue/join" in asked]
    page.click("#run")
    expect(page.locator("#run-line")).to_contain_text("Finished")
    at_position(page, 5)
    settings = page.locator("#run-view .rv-settings")
    for said in ("T 0.8", "γ 3", "seed 7"):
        expect(settings).to_contain_text(said)
    expect(page.locator("#run-view .rv-metrics")).to_contain_text("9")
    wait_for_address(page, prompt="t1 t2", gamma="3", rule="block", seed="7", position="5", policy="fixed")
    page.reload()
    at_position(page, 5)
    expect(prompt(page)).to_have_value("t1 t2")


def test_what_was_done_just_before_a_reload_is_there_after_it(page: Page, url: str) -> None:
    """The address follows after a rest, and a reload that doesn't wait for it opens the older one."""
    opened(page, url, f"tab=step-through&example={FIRST.key}")
    page.locator("#run-view .rv-token").nth(3).click()
    wait_for_address(page, position="4")  # nothing of the opening is under way any more
    page.evaluate("() => { document.querySelectorAll('#run-view .rv-token')[7].click(); location.reload(); }")
    wait_for_address(page, position="8")
    at_position(page, 8)


def test_a_link_wins_over_what_this_tab_of_the_browser_had_before(page: Page, url: str) -> None:
    opened(page, url)
    prompt(page).fill("t3")
    page.click("#run")
    expect(page.locator("#run-line")).to_contain_text("Finished")
    opened(page, url, "tab=step-through&example=story")
    expect(page.locator("#run-line")).to_contain_text(t("app.examples.story"))
    expect(prompt(page)).to_have_value(next(example for example in examples() if example.key == "story").prompt)
    page.wait_for_timeout(1500)  # nothing older comes after it
    expect(page.locator("#run-line")).to_contain_text(t("app.examples.story"))
    assert address(page)["example"] == "story"


def test_what_a_hostile_link_says_is_text(page: Page, url: str) -> None:
    opened(page, url, f"tab=step-through&prompt={quote(HOSTILE)}&stop_strings={quote('${x}')}")
    expect(prompt(page)).to_have_value(HOSTILE)
    wait_for_address(page, prompt=HOSTILE, stop_strings="${x}")
    assert page.locator("img[src=x]").count() == 0
    title = page.title()

    visit(page, "tab=step-through&prompt=short&gamma=3.5&temperature=NaN&seed=1e99&rule=<b>x</b>&top_k=&chat=1&position=-4&section=%00&evil=1")
    expect(prompt(page)).to_have_value("short")
    names = "position, section, temperature, top_k, gamma, rule, seed, chat"
    expect(notice(page)).to_have_text(t("links.left_out", names=names))
    wait_for_address(page, gamma="4", rule="token")

    visit(page, "__proto__[tab]=x&__proto__=1&constructor=x&hasOwnProperty=1&toString=2&tab=constructor&prompt=%E0%A4%zz")
    expect(notice(page)).to_have_text(t("links.left_out", names="tab, prompt"))
    expect(prompt(page)).to_have_value("short")
    assert page.evaluate("({}).tab === undefined && Object.prototype.tab === undefined")

    visit(page, "tab=step-through&prompt=half+%zz+%+of")
    expect(prompt(page)).to_have_value("half %zz % of")
    visit(page, "tab=drafting&prompt=" + "x" * 100_000)
    expect(notice(page)).to_have_text(t("links.too_long"))
    expect(prompt(page)).to_have_value("half %zz % of")
    expect(selected_tab(page)).to_have_text(t("app.tabs.step_through"))
    assert page.title() == title

    prompt(page).fill("你" * 5_000)
    page.wait_for_function("!new URLSearchParams(location.hash.slice(1)).has('prompt')")
    assert address(page) == {"tab": "step-through"}
    page.get_by_role("button", name=t("links.copy"), exact=True).click()
    expect(notice(page)).to_have_text(t("links.prompt_too_long"))


def test_pages_of_the_lesson_and_sections_are_part_of_the_address(page: Page, url: str) -> None:
    opened(page, url, "tab=lesson&page=4")
    expect(page.locator("#lesson-shell [aria-current=page]")).to_contain_text("4")
    wait_for_address(page, page="4")
    steps = page.evaluate("history.length")
    page.locator("#lesson-shell .ls-next").click()
    wait_for_address(page, page="5")
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    expect(page.locator("#lesson-shell [aria-current=page]")).to_contain_text("4")
    visit(page, "tab=is-it-faster&section=draft-length")
    head = page.locator('[data-fold="draft-length"]')
    expect(head).to_have_attribute("aria-expanded", "true")
    expect(head).to_be_in_viewport()
    page.locator('.contents:visible a[href$="section=the-race"]').click()
    page.wait_for_timeout(1000)
    assert address(page) == {"tab": "is-it-faster", "section": "the-race"}
    page.get_by_role("tab", name=t("drafting.tab")).click()
    wait_for_address(page, tab="drafting")
    assert address(page) == {"tab": "drafting"}
    page.go_back()
    wait_for_address(page, tab="is-it-faster", section="the-race")
    expect(selected_tab(page)).to_have_text(t("faster.tab"))


def test_parts_of_the_page_are_told_until_they_have_taken_it(page: Page, url: str) -> None:
    """A part that comes late, with its tab, still hears what the address says, and then no more."""
    page.add_init_script("""window.heard = [];
      for (const name of ['section', 'room', 'language']) document.addEventListener('specdec:' + name, (event) => {
        window.heard.push([name, event.detail]);
        if (name !== 'section' || window.heard.filter(([one]) => one === 'section').length === 3) event.preventDefault();
      });""")
    opened(page, url, "tab=drafting&section=later&room=ABCD", "?lang=zh")
    expect(selected_tab(page)).to_have_attribute("data-tab-id", "drafting")
    page.wait_for_function("window.heard.filter(([name]) => name === 'section').length === 3")
    page.wait_for_timeout(1000)
    assert sorted(page.evaluate("window.heard"), key=lambda one: one[0]) == [
        ["language", {"language": "zh"}], ["room", {"code": "ABCD"}], *[["section", {"id": "later"}]] * 3
    ]  # fmt: skip
    assert address(page) == {"tab": "drafting", "section": "later", "lang": "zh"}
