"""The handout: other seeds, other numbers; a key for every blank, computed here in other ways; nothing left in English."""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape

import pytest
import torch

from specdec.decoding.rules import rule_of
from specdec.exactness.laws import one_position_law
from specdec.settings import Settings
from visualizations.handout import printing
from visualizations.handout.__main__ import main
from visualizations.handout.rounds import suitable_rounds
from visualizations.handout.sheet import answer_key, handout
from visualizations.lesson.runs import recorded_run
from visualizations.text import spoken

SEEDS = range(7, 15)
BLANK = re.compile(r'<span class="blank" data-blank="([^"]+)">(.*?)</span>')
FATES = {"accepted": "kept", "replaced": "rejected", "discarded": "not tested"}


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()


def blanks(html: str) -> dict[str, str]:
    """What stands in each blank, by its name; a name that stands twice is an error."""
    found = [(name, plain(inner)) for name, inner in BLANK.findall(html)]
    assert len(dict(found)) == len(found)
    return dict(found)


def rows(html: str, table: str) -> list[list[str]]:
    """The cells of a table's body as they are read."""
    body = re.search(rf'<table class="{table}">.*?<tbody>(.*?)</tbody>', html, re.S)[1]
    return [list(map(plain, re.findall(r"<t[dh]>(.*?)</t[dh]>", row, re.S))) for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)]


def row(html: str, name: str) -> list[Fraction]:
    return [Fraction(cell) for cell in next(cells[1:] for cells in rows(html, "bars") if cells[0].startswith(name))]


@pytest.fixture(scope="module", params=SEEDS)
def key(request) -> str:
    return answer_key(request.param)


def test_a_seed_stands_for_its_numbers():
    assert handout(7) == handout(7)
    assert rows(handout(7), "bars")[:2] != rows(handout(8), "bars")[:2]
    assert rows(handout(7), "drafts") != rows(handout(8), "drafts")


def test_there_are_several_rounds_to_choose_from():
    assert len(suitable_rounds()) >= 5 and {found.run.prompt.text for found in suitable_rounds()} == {
        recorded_run(name).prompt.text for name in ("facts", "story")
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_every_blank_has_a_key_and_the_handout_does_not_tell_it(seed):
    empty, filled = blanks(handout(seed)), blanks(answer_key(seed))
    assert list(empty) == list(filled) and len(filled) > 45
    assert set(empty.values()) == {""} and all(filled.values())


def test_the_key_of_the_bars_is_what_the_rule_does(key):
    """By every draft, and every place that a coin can fall in."""
    small, big = row(key, "p_small"), row(key, "p_big")
    kept = [Fraction(0)] * len(small)
    for token, (q, p) in enumerate(zip(small, big)):
        steps = (p / q).denominator
        kept[token] = q * Fraction(sum(Fraction(2 * step + 1, 2 * steps) < p / q for step in range(steps)), steps)
    beta = sum(kept)
    gaps = [p - k for p, k in zip(big, kept)]
    assert row(key, "overlap: ") == kept and row(key, "lacking") == gaps
    assert row(key, "excess") == [q - k for q, k in zip(small, kept)]
    assert row(key, "residual") == [gap / sum(gaps) for gap in gaps]
    found = blanks(key)
    assert Fraction(found["bars-beta"]) == beta and Fraction(found["bars-rejected"]) == 1 - beta


def test_the_law_that_comes_out_is_the_one_of_the_decoder(key):
    laws = [torch.tensor([float(mass) for mass in row(key, name)], dtype=torch.float64) for name in ("p_big", "p_small")]
    law, kept = one_position_law(rule_of(Settings(rule="token")), *laws)
    assert [float(mass) for mass in row(key, "overlap + ")] == pytest.approx(law.tolist())
    assert float(blanks(key)["bars-beta"]) == pytest.approx(kept)
    law, _ = one_position_law(rule_of(Settings(rule="no_residual")), *laws)
    (wrong,) = re.findall(r"How often does ([A-E]) come out", plain(key))
    assert float(blanks(key)["from_target"]) == pytest.approx(float(law["ABCDE".index(wrong)]))


def test_the_bars_are_friendly(key):
    numbers = [cell for cells in rows(key, "bars") for cell in cells[1:]] + [blanks(key)["from_target"]]
    assert all(re.fullmatch(r"[01]\.\d{2,3}", number) for number in numbers)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_key_of_the_round_is_what_was_recorded(seed):
    key = answer_key(seed)
    run = next(run for run in map(recorded_run, ("facts", "story")) if run.prompt.text in plain(key))
    (number,) = re.findall(r"Round (\d+) of a recorded run", plain(key))
    round_ = run.rounds[int(number) - 1]
    drafts, found = rows(key, "drafts"), blanks(key)
    assert [cells[-1] for cells in drafts] == [FATES[position.kind] for position in round_.positions]
    for cells, position in zip(drafts, round_.positions):
        if position.coin is not None:
            assert float(cells[5]) == pytest.approx(position.accept_probability, abs=0.02)
            assert (float(cells[4]) < float(cells[5])) == (position.kind == "accepted")
    place = round_.positions[round_.accepted]
    likeliest = max(place.candidates, key=lambda candidate: candidate.p - (candidate.q or 0))
    assert found["likeliest"].replace("␣", " ") == likeliest.text
    assert float(found["beta"]) == pytest.approx(place.overlap, abs=0.03)
    assert float(found["rejected"]) + float(found["beta"]) == pytest.approx(1)
    assert float(found["chance"]) == pytest.approx((likeliest.p - likeliest.q) / place.residual_mass, abs=0.04)
    assert int(found["came-out"]) == round_.emitted


def test_what_is_added_up_adds_up(key):
    cells = rows(key, "cells")
    assert sum(Fraction(lack) for *_, lack in cells) == Fraction(blanks(key)["rejected"])
    assert [sum(Fraction(cell[column]) for cell in cells) for column in (1, 2)] == [1, 1]


def test_the_key_of_the_questions(key):
    strip = plain(re.search(r'<p class="strip">(.*?)</p>', key)[1])
    kept, rejected = strip.count("✓"), strip.count("✗")
    options = dict(re.findall(r"<li>([a-e])\) (.*?)</li>", key.partition("What is the acceptance rate")[2].partition("</ol>")[0]))
    assert plain(options[blanks(key)["counting"]]).startswith(f"{kept} ÷ {kept + rejected} = ")
    tokens, c, drafts, v = map(float, re.findall(r"gave ([\d.]+) tokens.*c = ([\d.]+) .*checking (\d+) .*v = (\d+\.\d+)", plain(key))[0])
    assert float(blanks(key)["faster"]) == pytest.approx(tokens / (drafts * c + v), abs=0.006)


@pytest.mark.parametrize("make", [handout, answer_key])
def test_no_english_is_left_in_chinese(make):
    with spoken(("zh",)):
        html = make(7)
    head, body = html.split("<body>")
    assert 'lang="zh' in head and "手算投机解码" in head
    names = {"max", "min", "token"}
    body = re.sub(r'<(\w+) translate="no">.*?</\1>', "", body, flags=re.S)
    assert set(re.findall(r"(?<!\w)[A-Za-z]{3,}(?!\w)", re.sub(r"<[^>]+>", " ", body))) == names


def test_the_command_writes_both_and_says_so_where_no_browser_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(printing, "BROWSERS", ())
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert main(["--seed", "7", "--out", str(tmp_path / "paper.html")]) == 0
    assert main(["--seed", "7", "--out", str(tmp_path / "paper.html"), "--pdf"]) == 1
    assert (tmp_path / "paper.html").read_text("utf-8") == handout(7)
    assert (tmp_path / "paper-key.html").read_text("utf-8") == answer_key(7)
    assert "No Chromium was found" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.pdf"))
