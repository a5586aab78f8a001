"""Sampling tests that need no models: at once, outside the queue, a few at a time in the whole app."""

from __future__ import annotations

import logging
import threading
from typing import Any

from specdec.settings import BadInput
from visualizations.text import say, t
from visualizations.why_exact.bars import checked_bars
from visualizations.why_exact.draws import Request, draw_from_bars, draw_with_loop
from visualizations.why_exact.sampling_view import waiting_value

PATIENCE_SECONDS = 10.0
_FEW = threading.BoundedSemaphore(2)
_LOG = logging.getLogger(__name__)


def draw_at_once(source: str, stop: threading.Event, rule: Any, n: Any, seed: Any, bars: Any) -> dict[str, Any]:
    """What a `SamplingView` shows of a test of untrusted choices. source: 'bars', or 'loop' for the decoding loop on
    them, which `stop` ends."""
    try:
        request, laws = Request.checked(rule, n, seed), checked_bars(bars)
        if not _FEW.acquire(timeout=PATIENCE_SECONDS):
            raise BadInput(t("exact.bad.many_draws"))
        try:
            test = draw_from_bars(laws, request) if source == "bars" else draw_with_loop(laws, request, stop)
            return test or stopped_test(source)
        finally:
            _FEW.release()
    except Exception as fault:
        return failed_test(fault, source)


def stopped_test(source: str) -> dict[str, Any]:
    """What stands there after a Stop."""
    return waiting_value(t("exact.sampling.stopped"), "empty", source)


def failed_test(fault: Exception, source: str) -> dict[str, Any]:
    """A refusal in its own words; anything else is logged and named."""
    if isinstance(fault, BadInput):
        return waiting_value(say(fault.phrase), "fault", source)
    _LOG.error("A sampling test failed", exc_info=fault)
    return waiting_value(t("exact.sampling.fault", fault=type(fault).__name__), "fault", source)
