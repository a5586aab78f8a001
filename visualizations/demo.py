"""The whole page: its tabs, its API, and how it is launched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from specdec.trace.trace import MAX_JSON_BYTES
from visualizations.api import decode_endpoint
from visualizations.components.languages import LanguageSwitch, Page, languages_head
from visualizations.components.model_events import MODEL_QUEUE, select_on
from visualizations.drafting.tab import build_drafting
from visualizations.is_it_faster.tab import build_is_it_faster
from visualizations.lesson.room import Rooms
from visualizations.lesson.tab import build_lesson
from visualizations.links import TABS, PageLink, connect_links
from visualizations.projector import PROJECTOR_CSS, Projector
from visualizations.serving.backend import Backend
from visualizations.serving.leaving import NoticesLeaving
from visualizations.serving.liveness import ThereAtOnce
from visualizations.serving.places import MOST_WAITING
from visualizations.serving.shelf import ModelShelf
from visualizations.serving.slots import MOST_RUNS
from visualizations.serving.stopping import OpenRuns
from visualizations.step_through.tab import build_step_through
from visualizations.text import LANGUAGES, spoken, t
from visualizations.why_exact.tab import build_exact_tab

HERE = Path(__file__).parent
# Wishes that Gradio has under way, for all kinds of work together: those that have models, and all that may wait for them.
MOST_WISHES = 2 * (MOST_RUNS + MOST_WAITING)
MOST_MORE = 1_000  # that Gradio keeps besides, each until it is begun and told that the line is full
STEP_THROUGH, WHY_EXACT, IS_IT_FASTER, DRAFTING, LESSON = TABS
STYLES = ("page.css", "lesson/lesson.css", PROJECTOR_CSS)
MAX_UPLOAD = MAX_JSON_BYTES  # saved traces are all that is uploaded
LEAST_TO_PACK = 50_000  # bytes: the page itself, which has all words and scripts; streams of events are never packed
HOUR = 3600
MOST_VISITORS_KEPT = 200


def build_demo(shelf: Backend | None = None) -> gr.Blocks:
    """The page, ready to launch with `launch_options()`. shelf: where its models come from."""
    shelf = shelf or ModelShelf()
    demo = Page(title=t("app.title"), analytics_enabled=False, delete_cache=(HOUR, HOUR))
    with spoken(LANGUAGES), demo:
        with gr.Row(elem_id="title-row") as title_row:
            gr.Markdown(f"# {t('app.title')}\n{t('app.subtitle')}", elem_id="title")
        invite = gr.Button(t("lesson.invite"), size="sm", elem_id="take-lesson")
        by_key = {}
        with gr.Tabs() as tabs:
            with gr.Tab(t("app.tabs.step_through"), id=STEP_THROUGH) as by_key[STEP_THROUGH]:
                run = build_step_through(demo, shelf)
            with gr.Tab(t("exact.tab"), id=WHY_EXACT) as by_key[WHY_EXACT]:
                build_exact_tab(demo, by_key[WHY_EXACT], shelf, run)
            with gr.Tab(t("faster.tab"), id=IS_IT_FASTER) as by_key[IS_IT_FASTER]:
                build_is_it_faster(demo, shelf)
            with gr.Tab(t("drafting.tab"), id=DRAFTING) as by_key[DRAFTING]:
                worst = build_drafting(demo, by_key[DRAFTING], shelf, run)
            with gr.Tab(t("lesson.tab"), id=LESSON) as by_key[LESSON]:
                build_lesson(Rooms())
        with title_row:
            link = PageLink(TABS, run.form.components, elem_id="page-link")
            Projector(elem_id="projector")
            language = LanguageSwitch(elem_id="language")
        connect_links(link, tabs, by_key, run)
        select_on(invite.click, tabs, LESSON)
        select_on(worst.leave, tabs, STEP_THROUGH)
        select_on(run.view.measure, tabs, IS_IT_FASTER)
        language.renew(demo)
        calls = OpenRuns()
        calls.stop_when_left(demo)
        gr.api(decode_endpoint(shelf, calls), api_name="decode", **MODEL_QUEUE)
    demo.queue(max_size=MOST_MORE)
    return demo


def launch_options() -> dict[str, Any]:
    """Arguments for `launch` that belong to the page, whoever launches it."""
    return {
        "theme": _theme(),
        "css": "".join((HERE / name).read_text("utf-8") for name in STYLES),
        "head": languages_head() + f"<script type='module'>{(HERE / 'page_head.js').read_text('utf-8')}</script>",
        "app_kwargs": {
            "middleware": [
                Middleware(ThereAtOnce),
                Middleware(NoticesLeaving),
                Middleware(GZipMiddleware, minimum_size=LEAST_TO_PACK, compresslevel=5),
            ]
        },
        "footer_links": ["api"],
        "run_history": False,
        "max_threads": MOST_WISHES,
        "max_file_size": MAX_UPLOAD,
        "state_session_capacity": MOST_VISITORS_KEPT,
        "ssr_mode": False,
    }


def _theme() -> gr.themes.Base:
    """Gradio's own, with its pale print dark enough to read, and buttons dark enough for the white on them."""
    return gr.themes.Default(primary_hue="blue").set(
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_300",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_300",
    )
