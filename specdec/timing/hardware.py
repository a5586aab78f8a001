"""What machine this is, for the line beside every number."""

from __future__ import annotations

import platform
from pathlib import Path

import torch
import transformers

from specdec.models.cores import usable_cores
from specdec.timing.records import Hardware


def describe(device: torch.device) -> Hardware:
    """The machine as `device` sees it; 'unknown' where the system won't say."""
    return Hardware(
        device=device.type,
        name=torch.cuda.get_device_name(device) if device.type == "cuda" else processor_name(),
        cores=usable_cores(),
        threads=torch.get_num_threads(),
        torch=torch.__version__,
        transformers=transformers.__version__,
        python=platform.python_version(),
        system=platform.system(),
    )


def processor_name() -> str:
    """The processor's model name, from the system."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine() or "unknown"
