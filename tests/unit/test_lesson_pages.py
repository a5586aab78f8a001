"""The pages of the lesson: short, with one right answer each; those of pages 1 to 6 are found here in another way."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

torch = pytest.importorskip("torch")

from specdec.decoding.rules import rule_of  # noqa: E402
from specdec.exactness.laws import closed_form, one_position_law, total_variation  # noqa: E402
from specdec.settings import Settings  # noqa: E402
from visualizations.is_it_faster.records import FOLDER  # noqa: E402
from visualizations.lesson.coin_game import COINS, always_keep, chosen_coins, truth  # noqa: E402
from visualizations.lesson.page import MOST_WORDS, Blanks, Choice  # noqa: E402
from visualizations.lesson.pages import coin, lesson_pages, refill  # noqa: E402
from visualizations.lesson.pages import sum as sum_up  # noqa: E402
from visualizations.lesson.refill_view import Cells, refills, rejection  # noqa: E402
from visualizations.lesson.runs import recorded_run  # noqa: E402
from visualizations.step_through.examples import examples  # noqa: E402
from visualizations.text import LANGUAGES, section  # noqa: E402
from visualizations.why_exact.bars import PRESETS  # noqa: E402

MOST_CHARACTERS = 220  # of a Chinese page
PAGES = {page.key: page for page in lesson_pages()}


def raw_rounds(key: str) -> list[list[dict]]:
    """The positions of a recorded run's rounds, as its file has them."""
    path = next(example for example in examples() if example.key == key).recording
    return [round_["positions"] for round_ in json.loads(path.read_bytes())["rounds"]]


def count(positions: list[dict], *kinds: str) -> int:
    return len([position for position in positions if position["kind"] in kinds])


def right(key: str) -> str:
    (option,) = [option for option in PAGES[key].answer.options if option.right]
    return option.said


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_is_short(page):
    assert len(page.words.split()) <= MOST_WORDS
    if "zh" in LANGUAGES:
        assert len(section(f"lesson.pages.{page.key}.words", "zh")) <= MOST_CHARACTERS
    assert page.title and page.task and page.reason and all(asked.question and asked.answer for asked in page.asked)


@pytest.mark.parametrize("page", [page for page in PAGES.values() if isinstance(page.answer, Choice)], ids=lambda page: page.key)
def test_one_option_is_right_and_each_has_a_reason(page):
    options = page.answer.options
    assert [option.right for option in options].count(True) == 1
    assert len({option.said for option in options}) == len({option.why for option in options}) == len(options) >= 3


@pytest.mark.parametrize("page", [page for page in PAGES.values() if isinstance(page.answer, Blanks)], ids=lambda page: page.key)
def test_no_known_mistake_passes_for_the_right_number(page):
    for blank in page.answer.blanks:
        numbers = [blank.number, *(number for number, _ in blank.wrong)]
        assert "___" in blank.said and blank.why and all(why for _, why in blank.wrong)
        assert all(abs(one - other) > 2 * blank.tolerance for one, other in combinations(numbers, 2)), blank.said


def test_waiting_asks_for_the_measured_ratio():
    measured = json.loads((FOLDER.path / "costs.json").read_bytes())["target"]
    seconds = {cost["tokens"]: cost["seconds"]["median"] for cost in measured}
    assert right("waiting").startswith(f"{seconds[5] / seconds[1]:.1f} times")
    assert f"{1e3 * seconds[5]:.1f} ms" in PAGES["waiting"].reason and "5 tokens" in PAGES["waiting"].task


def test_guess_asks_for_what_one_pass_gave():
    rounds = raw_rounds("facts")
    number = next(
        n for n, positions in enumerate(rounds) if count(positions, "accepted") >= 2 and count(positions, "discarded")
    )
    assert f"round {number + 1} " in PAGES["guess"].task
    assert right("guess") == str(count(rounds[number], "accepted", "replaced"))


def test_the_coins_are_real_and_spread():
    coins = chosen_coins([recorded_run(key) for key in coin.RUNS])
    thrown = {
        (place["p"], place["q"], place["coin"], place["kind"] == "accepted")
        for key in coin.RUNS
        for positions in raw_rounds(key)
        for place in positions
        if place["coin"] is not None
    }
    assert len(set(coins)) == COINS and {(one.p, one.q, one.coin, one.kept) for one in coins} <= thrown
    accepts = sorted(min(1, one.p / one.q) for one in coins)
    assert accepts == pytest.approx(sorted(one.accept for one in coins), abs=1e-4)
    assert accepts == pytest.approx([*((k + 0.5) / COINS for k in range(COINS - 1)), 1], abs=0.05)
    assert all((one.coin < one.accept) == one.kept == (not one.instead) for one in coins)


def test_the_scores_of_the_best_guesser_and_of_always_keep():
    coins = chosen_coins([recorded_run(key) for key in coin.RUNS])
    kept = torch.tensor([float(one.kept) for one in coins])
    chances = torch.tensor([min(1, one.p / one.q) for one in coins])
    assert always_keep(coins) == pytest.approx(1 - float(kept.mean()))
    assert truth(coins) == pytest.approx(float(torch.nn.functional.mse_loss(chances, kept)), abs=1e-4)
    assert truth(coins) < always_keep(coins)


def split(cells: Cells) -> tuple[torch.Tensor, torch.Tensor]:
    """The cells' laws with "all other" as two: what both have is where p_big is smaller, the rest where it is larger."""
    p, q, both = (torch.tensor(masses, dtype=torch.float64) for masses in (cells.p_big, cells.p_small, cells.overlap))
    rest = torch.stack([both[-1] / 2, p[-1] - both[-1] / 2]), torch.stack([q[-1] - both[-1] / 2, both[-1] / 2])
    return torch.cat([p[:-1], rest[0]]), torch.cat([q[:-1], rest[1]])


def test_the_laws_that_come_out_are_those_of_the_engine():
    cells = rejection([recorded_run(key) for key in refill.RUNS])
    target, draft = split(cells)
    kept = torch.tensor(cells.overlap, dtype=torch.float64)
    for rule, name in (("token", "residual"), ("no_residual", "p_big")):
        law, acceptance = closed_form(Settings.checked(rule=rule), target, draft)
        folded = torch.cat([law[:-2], law[-2:].sum().reshape(1)])
        wanted = torch.tensor(cells.p_big, dtype=torch.float64)
        choice = refills(cells)[name]
        assert acceptance == pytest.approx(cells.overlap_mass, abs=1e-4)
        assert (kept + torch.tensor(choice.refill)).tolist() == pytest.approx(folded.tolist(), abs=1e-4)
        assert choice.distance == pytest.approx(total_variation(folded, wanted), abs=1e-4)
    distances = {name: choice.distance for name, choice in refills(cells).items()}
    assert distances["residual"] < 1e-9 and min(d for name, d in distances.items() if name != "residual") > 0.05


def test_the_options_of_the_refill_are_in_the_order_of_its_laws():
    page = PAGES["refill"]
    cells = rejection([recorded_run(key) for key in refill.RUNS])
    for option, choice in zip(page.answer.options, refills(cells).values(), strict=True):
        assert f"{round(choice.distance, 3):g}" in option.why
        assert option.right == (choice.distance < 1e-9)


def test_the_six_numbers_are_those_of_the_token_rule():
    draft, target = (torch.tensor(masses, dtype=torch.float64) / 100 for masses in PRESETS[sum_up.PRESET])
    law, acceptance = one_position_law(rule_of(Settings()), target, draft)
    much, little = int((draft - target).argmax()), (target > draft).nonzero().flatten().tolist()
    rest = law - torch.minimum(target, draft)
    assert [blank.number for blank in PAGES["sum"].answer.blanks] == pytest.approx(
        [
            float(draft[much]),
            float(law[much]),
            1 - acceptance,
            float(rest[little[1]]),
            float(rest[little[0]]) / (1 - acceptance),
            float(law[little[0]]),
        ]
    )


def test_again_counts_only_what_was_tested():
    positions = [position for round_ in raw_rounds("story")[:6] for position in round_]
    accepted, tested = count(positions, "accepted"), count(positions, "accepted", "replaced")
    assert right("again_one") == f"{accepted} ÷ {tested} = {accepted / tested:.3g}"
    assert f"{accepted} ÷ {len(positions) - count(positions, 'bonus')} =" in PAGES["again_one"].answer.options[0].said
