"""Importing torch and transformers, from whichever thread needs them first.

Event handlers and the loading of models run in threads of their own. Two of them importing these packages
at once can meet a module that the other has half made, which fails. So whoever needs them asks here first.
"""

from __future__ import annotations

import threading

_ONE_IMPORT = threading.Lock()


def import_engine() -> None:
    """Slow the first time. After it, torch, transformers' Auto classes and the engine can be imported anywhere."""
    with _ONE_IMPORT:
        import torch  # noqa: F401
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, StoppingCriteria  # noqa: F401

        import specdec.models.interface  # noqa: F401
        import specdec.recording  # noqa: F401
