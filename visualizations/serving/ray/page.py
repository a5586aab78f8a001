"""The page as a deployment: one process, for its visitors' sessions and their queue live in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from fastapi import FastAPI
from ray import serve
from ray.serve import Application

from specdec.models.catalogue import PairSpec, offer_first
from visualizations.serving.backend import Backend
from visualizations.serving.first_pair import first_choice
from visualizations.serving.ray.backend import RayBackend

Build = Callable[[Backend], gr.Blocks]
LaunchOptions = Callable[[], dict[str, Any]]


def page_of(
    build: Build, launch_options: LaunchOptions, pairs: Sequence[PairSpec], models: tuple[str, str], options: dict[str, Any]
) -> Application:
    """What answers visitors. build, launch_options: functions of a module's top level, called in the page's process.

    models: the deployment that it asks, and its application. options: as `serve.deployment` takes them.
    """

    def make() -> FastAPI:
        for pair in pairs:
            offer_first(pair)
        backend = RayBackend(serve.get_deployment_handle(*models))
        # Not here, where a loop runs that it would block.
        threading.Thread(target=backend.open, args=(first_choice(),), daemon=True).start()
        return mounted(build(backend), launch_options())

    @serve.ingress(make)
    class Page:
        pass

    return serve.deployment(**options)(Page).bind()


def mounted(demo: gr.Blocks, options: dict[str, Any]) -> FastAPI:
    """What `demo.launch(**options)` would serve. Gradio's own deployment for Ray Serve answers no queued event."""
    named = dict(options)
    # What mounting has no parameter for, set as `launch` sets it.
    demo.state_session_capacity = named.pop("state_session_capacity")
    demo.max_threads = demo._queue.max_thread_count = named.pop("max_threads")
    bare = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    return gr.mount_gradio_app(bare, demo, path="/", **named)
