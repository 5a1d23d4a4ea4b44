"""The numbers of the page that compares any two algorithms, recomputed."""

import re
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from sim.algorithms import grpo, ppo, rloo
from sim.algorithms.names import FILES
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.lessons.prose import LESSONS, Lesson
from tools.pages import algorithm_pairs, fences, lineage
from widgets.compare import widget as compare


class Page(Lesson):
    """A page that has no number."""

    def __init__(self, name):
        self.path = LESSONS / name
        self.text = self.path.read_text(encoding="utf-8")


PAGE = Page("compare.md")


@cache
def run(name, optimizer, rate, passes=None, **changed):
    """Pass rates, drawn and trained on of five runs after sixty updates, without the widget."""
    recipe = compare.recipe_of(name)
    hyper = {**recipe.hyper, **({} if passes is None else dict(inner_epochs=passes)), **changed}
    rates, drawn, trained_on = [], [], []
    for seed in range(5):
        made = modsum_optimizer(optimizer, rate)
        training = modsum_run(
            recipe.file, seed=seed, optimizer=made, hyper=hyper, hooks=recipe.hooks, exact_every=60
        ).iterate(60)
        trained_on.append(0)
        for event in training:
            if event.stage == 3 and event.summary["batch"] is not None:
                trained_on[-1] += len(event.summary["batch"].tokens)
            if event.stage == 7:
                frame = event.summary["frame"]
        rates.append(frame.exact["pass_rate"].mean())
        drawn.append(frame.completions)
    return np.mean(rates), np.mean(drawn), np.mean(trained_on)


OWN = {"REINFORCE": 40, "PPO": 40, "GRPO": 4, "RLOO": 40, "DAPO": 40, "Dr.GRPO": 40}


@pytest.mark.when_changed()
@pytest.mark.parametrize("name", FILES)
def test_the_table_of_the_six(name):
    (row,) = re.findall(rf"^ *\| {re.escape(name)} \| (.*) \|$", PAGE.text, re.M)
    one_rate, own, adamw, steps, drawn = row.split(" | ")
    assert float(one_rate) == pytest.approx(run(name, "SGD", 2.0)[0], abs=0.012)
    assert own.split(" at ")[1] == str(OWN[name])
    assert float(own.split(" at ")[0]) == pytest.approx(run(name, "SGD", float(OWN[name]))[0], abs=0.007)
    assert float(adamw) == pytest.approx(run(name, "AdamW", 8.0)[0], abs=0.007)
    assert int(steps) == 60 * FILES[name].HP["inner_epochs"]
    assert float(drawn.replace(",", "")) == pytest.approx(run(name, "AdamW", 8.0)[1], rel=0.02)


@pytest.mark.when_changed()
def test_at_its_own_rate_or_under_adamw_the_ladder_is_nearly_one_algorithm():
    own, adamw = [run(name, "SGD", float(OWN[name]))[0] for name in FILES], [run(n, "AdamW", 8.0)[0] for n in FILES]
    assert np.ptp(own) < 0.03 and np.ptp(adamw) < 0.03 and "within 0.03 of every other" in PAGE.text
    made = modsum_optimizer("AdamW", 8.0)
    free = list(modsum_run(grpo, optimizer=made, hyper=dict(beta=0.0), exact_every=60).frames(60))[-1]
    assert free.exact["pass_rate"].mean() > 0.995


@pytest.mark.when_changed()
def test_a_best_rate_on_offer_is_the_best_of_its_neighbors():
    assert run("GRPO", "SGD", 4.0)[0] > max(run("GRPO", "SGD", 2.0)[0], run("GRPO", "SGD", 8.0)[0])
    for name in ("PPO", "Dr.GRPO"):
        assert run(name, "SGD", 40.0)[0] > run(name, "SGD", 24.0)[0]


@pytest.mark.when_changed()
def test_with_as_many_optimizer_steps_the_six_end_alike():
    ends = [run(name, "AdamW", 4.0, 1)[0] for name in FILES]
    assert min(ends) == pytest.approx(0.93, abs=0.012) and max(ends) == pytest.approx(0.94, abs=0.012)
    assert "all six end at 0.93 to 0.94" in PAGE.text


@pytest.mark.when_changed()
def test_dapo_draws_much_and_trains_on_little():
    _, drawn, trained_on = run("DAPO", "AdamW", 8.0)
    assert 6 < drawn / 3840 < 7 and trained_on == pytest.approx(1100, rel=0.1)
    assert "six times what the others do" in PAGE.text and "about 1,100" in PAGE.text


@pytest.mark.when_changed()
def test_other_pairs_of_the_text():
    assert run("Dr.GRPO", "SGD", 12.0)[0] == pytest.approx(0.94, abs=0.012)
    assert abs(run("REINFORCE", "SGD", 2.0)[0] - run("RLOO", "SGD", 2.0)[0]) < 0.03
    for rate, ends in ((2.0, (0.61, 0.54)), (12.0, (0.98, 0.99))):
        assert [run(name, "SGD", rate)[0] for name in ("GRPO, 2024", "TRL 1.16.0")] == pytest.approx(ends, abs=0.012)
        assert f"{ends[0]} and {ends[1]}" in PAGE.text
    assert [run(name, "AdamW", 8.0)[0] for name in ("GRPO, 2024", "TRL 1.16.0")] == pytest.approx([0.99] * 2, abs=0.007)
    assert run("GRPO", "SGD", 24.0)[0] < 0.5 < 0.985 < run("PPO", "SGD", 24.0)[0]


def test_a_step_of_dr_grpo_is_about_a_sixth_as_long_as_one_of_grpo():
    lengths, deviations = [], []
    for event in modsum_run(grpo).iterate(10):
        if event.stage == 3:
            batch = event.summary["batch"]
            deviation = batch.accuracy.reshape(-1, batch.K).std(axis=1, ddof=1)
            lengths.append(batch.response_mask.sum(axis=1).mean())
            deviations.extend(deviation[deviation > 0])
    assert "by about 4 tokens and by a deviation of about 1/2" in PAGE.text and "a sixth as long" in PAGE.text
    assert np.mean(lengths) == pytest.approx(4, abs=0.5) and np.mean(deviations) == pytest.approx(0.5, abs=0.1)
    assert modsum.T == 12


@pytest.mark.when_changed()
def test_sixteen_passes_with_a_clip_and_without_a_ratio():
    farthest, ends = {}, {}
    for file in (ppo, rloo):
        runs = [
            list(modsum_run(file, seed=seed, learning_rate=8.0, hyper=dict(inner_epochs=16)).frames(60))
            for seed in range(5)
        ]
        farthest[file] = [max(frame.exact["kl_step"].mean() for frame in frames) for frames in runs]
        ends[file] = [frames[-1].exact["pass_rate"].mean() for frames in runs]
    assert max(farthest[ppo]) < 0.1 and "at most 0.1 nats" in PAGE.text
    assert min(farthest[rloo]) > 2 and max(farthest[rloo]) < 7 and "2.5 to 6.4 with RLOO" in PAGE.text
    assert min(ends[rloo]) > 0.9985 and "ends at 0.999" in PAGE.text


def test_every_two_of_the_six_files_are_a_patch_and_so_every_arrow_of_the_drawing():
    there = re.findall(r"^sim/algorithms/(\w+)\.py -> sim/algorithms/(\w+)\.py$", PAGE.text, re.M)
    files = [file.__name__.rpartition(".")[2] for file in FILES.values()]
    assert there == list(combinations(files, 2))
    assert {(lineage.NODES[old][0], lineage.NODES[new][0]) for old, new in lineage.EDGES} <= set(there)


def pairs_with(*runs):
    """The blocks of the page that stand for two runs: (names that each concerns, text)."""
    body = re.search(r"^```patches\n(.*?)\n```", PAGE.text, re.M | re.S)[1].partition("\n\n")[2]
    patches = dict(map(fences.parsed, body.split("\n\n")))
    blocks = re.split(r"(?=<div(?: class=now)? data-of=)", algorithm_pairs.figures(patches, runs))[1:]
    return [re.sub("<[^>]+>", "", block) for block in blocks if block.startswith("<div class=now")]


def test_two_files_show_their_own_patch_and_no_other():
    for runs in (("GRPO", "RLOO"), ("RLOO", "GRPO")):
        (only,) = pairs_with(*runs)
        assert only.startswith("sim/algorithms/grpo.py → rloo.py")
        removed, added = re.search(r"−(\d+) \+(\d+)", only).groups()
        assert (int(removed), int(added)) == (
            10,
            5,
        )  # HP, two of advantage, four of surrogate, weights, two of kl_term; one each
    assert pairs_with("GRPO", "GRPO") == []


def test_a_recipe_says_what_it_exchanges_in_its_file():
    trl, old = pairs_with("GRPO, 2024", "TRL 1.16.0")[::-1]
    assert trl == "TRL 1.16.0 is grpo.py with weights from dapo.py, and with inner_epochs = 1, beta = 0."
    assert old == "GRPO, 2024 is grpo.py with inner_epochs = 1."
    lite, patch = pairs_with("Lite PPO", "PPO")
    assert "advantage as over_batch_std, weights from dapo.py" in lite and "ppo.py → grpo.py" in patch


def test_a_pair_without_its_clauses_is_refused():
    with pytest.raises(ValueError, match=r"no patch sim/algorithms/reinforce\.py -> sim/algorithms/ppo\.py"):
        algorithm_pairs.figures({}, ("GRPO", "RLOO"))


@pytest.mark.when_changed()
def test_the_successors_of_the_clip():
    close = lambda value: pytest.approx(value, abs=0.012)
    assert run("GSPO", "SGD", 2.0)[0] == close(0.61) and run("GSPO", "SGD", 2.0, 1)[0] == close(0.63)
    assert "ends at 0.61 after four passes and at 0.63" in PAGE.text
    assert [run(name, "SGD", 2.0)[0] for name in ("CISPO", "GRPO")] == [close(0.97)] * 2
    assert run("CISPO", "SGD", 8.0, 16)[0] == pytest.approx(0.998, abs=0.002) and "0.998 in steps" in PAGE.text
    assert min(run(name, "AdamW", 8.0)[0] for name in ("CISPO", "GSPO")) > 0.99
    assert run("CISPO", "SGD", 2.0, cap=0.2)[0] == close(0.47) and "ends at 0.47 in place of 0.97" in PAGE.text


@pytest.mark.when_changed()
def test_after_one_step_most_completions_are_over_the_bounds_of_gspo_and_cispo_goes_far_in_sixteen():
    def frames(name, rate, **hyper):
        row = compare.recipe_of(name)
        runs = (
            modsum_run(row.file, seed=s, learning_rate=rate, hyper={**row.hyper, **hyper}, hooks=row.hooks)
            for s in range(5)
        )
        return [list(run.frames(60)) for run in runs]

    silent = np.mean([[frame.clip_fraction for frame in run] for run in frames("GSPO", 2.0)])
    assert 100 * silent == pytest.approx(71, abs=1.5) and "71 % of the tokens" in PAGE.text
    far = max(frame.exact["kl_step"].mean() for run in frames("CISPO", 8.0, inner_epochs=16) for frame in run)
    assert far == pytest.approx(1.9, abs=0.1) and "up to 1.9 nats" in PAGE.text


def test_at_the_other_files_rate_the_first_screen_ends_below_one_half():
    assert run("GRPO", "SGD", 24.0)[0] < 0.5 and run("GRPO", "SGD", 4.0)[0] > 0.97
    assert vars(compare.OPENING.other)["rate_a"] == 24 and "at PPO's 24" in PAGE.text
