"""Who leaves while models read a long prompt doesn't keep the next visitor waiting for it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from gradio_client import Client
from gradio_client.client import Job

from tests.launched import launched, only
from tests.slow_pair import LONG_PROMPT, slow_pair

WHOLE_SECONDS = 12  # reading the prompt to its end
FREE_SECONDS = 5  # two for the models, the rest for a first token, the app and a busy machine
SHORT = {"max_new_tokens": 1, "gamma": 0, "chat": False}

PROGRAM = """
import sys, time
from gradio_client import Client
job = Client(sys.argv[1], verbose=False).submit(sys.argv[2], chat=False, api_name="/decode")
while not job.outputs():
    time.sleep(0.05)
print("it is read", flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def slow_url(pair_of, tiny_llama) -> Iterator[str]:
    """The app with models whose passes take a while."""
    with launched(only(slow_pair(pair_of, tiny_llama))) as url:
        yield url


def reads_a_long_prompt(client: Client) -> Job:
    job = client.submit(LONG_PROMPT, chat=False, api_name="/decode")
    while not job.outputs():
        time.sleep(0.05)
    time.sleep(1)
    return job


def seconds_of_a_short_call(url: str) -> float:
    client = Client(url, verbose=False)
    began = time.monotonic()
    assert client.predict("t1 t2", api_name="/decode", **SHORT)["metrics"]["emitted"] == 1
    return time.monotonic() - began


def test_a_cancelled_call(slow_url: str) -> None:
    job = reads_a_long_prompt(Client(slow_url, verbose=False))
    job.cancel()
    assert seconds_of_a_short_call(slow_url) < FREE_SECONDS < WHOLE_SECONDS


def test_a_program_that_ends_amid_its_call(slow_url: str) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM, slow_url, LONG_PROMPT], stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        time.sleep(1)
        program.kill()
    assert seconds_of_a_short_call(slow_url) < FREE_SECONDS < WHOLE_SECONDS
