"""In Chromium: an example that another visitor has run is answered at once, whoever holds the models, and can be run again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from gradio_client import Client  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from tests.held_table import HeldTable  # noqa: E402
from tests.launched import chatty, launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.no_lane import no_lane  # noqa: E402
from tests.typing_in import seed_box, type_in  # noqa: E402
from visualizations.step_through.examples import examples  # noqa: E402
from visualizations.text import section, t  # noqa: E402

PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)
EXAMPLE = examples()[0]
NOW = "Decoded just now with these settings."


@pytest.fixture(scope="module")
def target() -> HeldTable:
    return HeldTable([0.4, 0.3, 0.2, 0.1])


@pytest.fixture(scope="module")
def app_url(pair_of: Any, target: HeldTable) -> Iterator[str]:
    """The app with a model that a test can hold, where somebody has let the first example run to its end."""
    with launched(only(chatty(pair_of(target, HeldTable([0.1, 0.2, 0.3, 0.4]))))) as url:
        yield url


def open_page(page: Page, url: str) -> Page:
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    until_loaded(page)
    return page


@pytest.fixture(scope="module")
def ran(browser: Any, app_url: str) -> Iterator[Page]:
    """The page of a visitor whose run of the example is over, and plain decoding beside it too."""
    page = open_page(browser.new_context().new_page(), app_url)
    page.click("#run")
    expect(line(page)).to_contain_text("Finished")
    expect(page.locator(".rv-lead")).to_be_visible()
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def other(shared_page: Page, ran: Page, app_url: str) -> Page:
    """The page of another visitor."""
    no_lane(shared_page)
    return open_page(shared_page, app_url)


@pytest.fixture
def held(other: Page, app_url: str, target: HeldTable) -> Iterator[Page]:
    """The other visitor's page, while a program's run holds the models."""
    target.gate.clear()
    before = target.runs
    job = Client(app_url, verbose=False).submit("t0 t1", api_name="/decode", chat=False, max_new_tokens=8)
    while target.runs == before:
        other.wait_for_timeout(50)
    yield other
    target.gate.set()
    job.result(timeout=120)


def line(page: Page) -> Any:
    return page.locator("#run-line p")


def again(page: Page) -> Any:
    return line(page).get_by_role("button")


def strip(page: Page) -> str:
    return page.locator("#run-view .rv-strip").inner_text()


def is_decoded(page: Page, target: HeldTable) -> None:
    """What was asked for waits for the models; let it have them."""
    expect(line(page)).to_have_class("busy")
    page.wait_for_timeout(500)
    expect(line(page)).to_have_class("busy")
    target.gate.set()
    expect(line(page)).to_contain_text("Finished")
    expect(page.locator("#run-view .rv-running")).to_have_count(0)
    expect(line(page)).not_to_contain_text("Decoded")


def unfolded_seed_box(page: Page) -> Any:
    """The box of the seed, on screen."""
    box = seed_box(page)
    if not box.is_visible():
        page.get_by_role("button", name=t("app.settings")).first.click()
    return box


def pick_example(page: Page) -> None:
    """Let the example fill the form: its line may be there a moment before its settings are."""
    page.click(f"#example-{EXAMPLE.key}")
    expect(unfolded_seed_box(page)).to_have_value(str(EXAMPLE.settings.seed))
    expect(line(page)).to_contain_text(f"Example “{t(f'app.examples.{EXAMPLE.key}')}”")
    expect(page.locator("#prompt textarea")).to_have_value(EXAMPLE.prompt)


def run_finished(page: Page) -> None:
    page.click("#run")
    expect(line(page)).to_contain_text(NOW)
    expect(again(page)).to_have_text(t("app.decoded.again"))


def test_another_visitor_is_answered_at_once_while_the_models_are_held(held: Page, ran: Page, target: HeldTable) -> None:
    before = target.runs
    run_finished(held)
    assert strip(held) == strip(ran)
    expect(held.locator(".rv-lead")).to_be_visible()  # what plain decoding said of it came with it
    assert target.runs == before and not target.gate.is_set()


def test_run_again_decodes_the_example_whatever_the_form_says_now(held: Page, ran: Page, target: HeldTable) -> None:
    run_finished(held)
    held.fill("#prompt textarea", "Something else.")
    again(held).focus()
    held.keyboard.press("Enter")
    expect(again(held)).to_be_hidden()
    expect(line(held)).to_be_focused()
    is_decoded(held, target)
    assert strip(held) == strip(ran)


def test_another_seed_waits_for_the_models(held: Page, target: HeldTable) -> None:
    pick_example(held)
    type_in(unfolded_seed_box(held), "12345")
    held.click("#run")
    is_decoded(held, target)


def test_what_was_answered_is_there_after_a_reload_and_in_chinese(other: Page, ran: Page) -> None:
    pick_example(other)
    run_finished(other)
    other.reload()
    expect(line(other)).to_contain_text(f"your run of {EXAMPLE.settings.max_new_tokens} tokens")
    assert strip(other) == strip(ran)
    run_finished(other)
    other.locator("#language").get_by_role("button", name=section("app.language.zh")).click()
    expect(line(other)).to_contain_text("刚刚用这些设置解码的。")
    expect(again(other)).to_have_text(section("app.decoded", "zh")["again"])
