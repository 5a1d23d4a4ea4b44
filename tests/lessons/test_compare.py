"""The numbers of the page that compares any two algorithms, recomputed."""

import re
from itertools import combinations

import numpy as np
import pytest

from sim.algorithms import grpo, ppo, rloo
from sim.algorithms.names import FILES
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.lessons.prose import LESSONS, Lesson, rounded
from tools.pages import algorithm_pairs, fences, lineage
from widgets.compare import widget as compare


class Page(Lesson):
    """A page that has no number."""

    def __init__(self, name):
        self.path = LESSONS / name
        self.text = self.path.read_text(encoding="utf-8")


PAGE = Page("compare.md")


def trained_on(name, optimizer, step):
    """Completions that the trainer saw in sixty updates."""
    recipe = compare.recipe_of(name)

    def measured(seed):
        made = modsum_optimizer(optimizer, step)
        run = modsum_run(recipe.file, seed=seed, optimizer=made, hyper=recipe.hyper, hooks=recipe.hooks, exact_every=60)
        batches = [event.summary["batch"] for event in run.iterate(60) if event.stage == 3]
        return sum(len(batch.tokens) for batch in batches if batch is not None)

    return measured


def rate(name, optimizer, step, passes=None, of="pass_rate", **changed):
    """At the end of sixty updates, one run a seed; or how many completions it drew."""
    recipe = compare.recipe_of(name)
    hyper = {**recipe.hyper, **({} if passes is None else dict(inner_epochs=passes)), **changed}

    def measured(seed):
        made = modsum_optimizer(optimizer, step)
        run = modsum_run(recipe.file, seed=seed, optimizer=made, hyper=hyper, hooks=recipe.hooks, exact_every=60)
        frame = list(run.frames(60))[-1]
        return frame.completions if of == "completions" else frame.exact["pass_rate"].mean()

    return measured


def sixteen(file, of):
    """The farthest update, or what is right at the end, of sixteen passes a batch."""

    def measured(seed):
        frames = list(modsum_run(file, seed=seed, learning_rate=8.0, hyper=dict(inner_epochs=16)).frames(60))
        farthest = max(frame.exact["kl_step"].mean() for frame in frames)
        return farthest if of == "kl" else frames[-1].exact["pass_rate"].mean()

    return measured


def frames(name, step, seed, **hyper):
    row = compare.recipe_of(name)
    run = modsum_run(row.file, seed=seed, learning_rate=step, hyper={**row.hyper, **hyper}, hooks=row.hooks)
    return list(run.frames(60))


def clipped(seed):
    """% of the tokens of GSPO, mean of all updates."""
    return 100 * np.mean([frame.clip_fraction for frame in frames("GSPO", 2.0, seed)])


OWN = {"REINFORCE": 40, "PPO": 40, "GRPO": 4, "RLOO": 40, "DAPO": 40, "Dr.GRPO": 40}
MEASURED = {
    **{f"{name}, SGD at 2": rate(name, "SGD", 2.0) for name in FILES},
    **{f"{name}, SGD at {step}": rate(name, "SGD", float(step)) for name, step in OWN.items()},
    **{f"{name}, AdamW at 8": rate(name, "AdamW", 8.0) for name in FILES},
    **{f"{name}, AdamW at 4, one pass": rate(name, "AdamW", 4.0, 1) for name in FILES},
    "DAPO, trained on": trained_on("DAPO", "AdamW", 8.0),
    "DAPO, completions": rate("DAPO", "AdamW", 8.0, of="completions"),
    "GRPO, SGD at 8": rate("GRPO", "SGD", 8.0),
    "GRPO, SGD at 24, below one half": lambda seed: not rate("GRPO", "SGD", 24.0)(seed) >= 0.5,  # or no number
    "PPO, SGD at 24": rate("PPO", "SGD", 24.0),
    "Dr.GRPO, SGD at 24": rate("Dr.GRPO", "SGD", 24.0),
    "Dr.GRPO, SGD at 12": rate("Dr.GRPO", "SGD", 12.0),
    **{
        f"{name}, {optimizer} at {step}": rate(name, optimizer, float(step))
        for name in ("GRPO, 2024", "TRL 1.16.0")
        for optimizer, step in (("SGD", 2), ("SGD", 12), ("AdamW", 8))
    },
    **{
        f"{file.__name__.rpartition('.')[2]}, sixteen passes, {of}": sixteen(file, of)
        for file in (ppo, rloo)
        for of in ("kl", "right")
    },
    "GSPO": rate("GSPO", "SGD", 2.0),
    "GSPO, percent clipped": clipped,
    "CISPO, sixteen passes, kl": lambda seed: max(
        frame.exact["kl_step"].mean() for frame in frames("CISPO", 8.0, seed, inner_epochs=16)
    ),
    "GSPO, one pass": rate("GSPO", "SGD", 2.0, 1),
    "CISPO": rate("CISPO", "SGD", 2.0),
    "CISPO, sixteen passes": rate("CISPO", "SGD", 8.0, 16),
    "CISPO, cap 0.2": rate("CISPO", "SGD", 2.0, cap=0.2),
    "CISPO, AdamW": rate("CISPO", "AdamW", 8.0),
    "GSPO, AdamW": rate("GSPO", "AdamW", 8.0),
}


kept = PAGE.kept


@pytest.mark.parametrize("name", FILES)
def test_the_table_of_the_six(name):
    (row,) = re.findall(rf"^ *\| {re.escape(name)} \| (.*) \|$", PAGE.text, re.M)
    one_rate, own, adamw, steps, drawn = row.split(" | ")
    assert one_rate == rounded(kept(f"{name}, SGD at 2").mean(), one_rate)
    best, at = own.split(" at ")
    assert at == str(OWN[name])
    assert best == rounded(kept(f"{name}, SGD at {at}").mean(), best)
    assert adamw == rounded(kept(f"{name}, AdamW at 8").mean(), adamw)
    assert int(steps) == 60 * FILES[name].HP["inner_epochs"]
    completions = kept("DAPO, completions").mean() if name == "DAPO" else 3840
    assert float(drawn.replace(",", "")) == pytest.approx(completions, rel=0.01)


def test_at_its_own_rate_or_under_adamw_the_ladder_is_nearly_one_algorithm():
    for rates in (OWN, dict.fromkeys(FILES, 8)):
        optimizer = "SGD" if rates is OWN else "AdamW"
        assert np.ptp([kept(f"{name}, {optimizer} at {step}").mean() for name, step in rates.items()]) < 0.03
    assert "within 0.03 of every other" in PAGE.text


@pytest.mark.when_changed()
def test_without_the_kl_grpo_goes_as_far_under_adamw():
    made = modsum_optimizer("AdamW", 8.0)
    free = list(modsum_run(grpo, optimizer=made, hyper=dict(beta=0.0), exact_every=60).frames(60))[-1]
    assert free.exact["pass_rate"].mean() > 0.995


def test_a_best_rate_on_offer_is_the_best_of_its_neighbors():
    mean = lambda words: kept(words).mean()
    assert mean("GRPO, SGD at 4") > max(mean("GRPO, SGD at 2"), mean("GRPO, SGD at 8"))
    for name in ("PPO", "Dr.GRPO"):
        assert mean(f"{name}, SGD at 40") > mean(f"{name}, SGD at 24")


def test_with_as_many_optimizer_steps_the_six_end_alike():
    means = [kept(f"{name}, AdamW at 4, one pass").mean() for name in FILES]
    assert f"all six end at {min(means):.2f} to {max(means):.2f}" in PAGE.text


def test_dapo_draws_much_and_trains_on_little():
    assert 6 < kept("DAPO, completions").mean() / 3840 < 7 and "six times what the others do" in PAGE.text
    assert kept("DAPO, trained on").mean() == pytest.approx(1040, abs=10) and "about 1,040" in PAGE.text


def test_other_pairs_of_the_text():
    PAGE.says("0.93", kept("Dr.GRPO, SGD at 12").mean())
    assert abs(kept("REINFORCE, SGD at 2").mean() - kept("RLOO, SGD at 2").mean()) < 0.03
    for rate in (2, 12):
        ends = [f"{kept(f'{name}, SGD at {rate}').mean():.2f}" for name in ("GRPO, 2024", "TRL 1.16.0")]
        assert " and ".join(ends) in PAGE.text
    for name in ("GRPO, 2024", "TRL 1.16.0"):
        assert f"{kept(f'{name}, AdamW at 8').mean():.2f}" == "0.99"
    PAGE.counts("in {} of twenty seeds", kept("GRPO, SGD at 24, below one half") == 1)
    assert kept("PPO, SGD at 24").min() > 0.98


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


def test_sixteen_passes_with_a_clip_and_without_a_ratio():
    assert kept("ppo, sixteen passes, kl").max() < 0.15 and "at most 0.1 nats" in PAGE.text
    PAGE.between("2.0 to 23.4 with RLOO", kept("rloo, sixteen passes, kl"))
    assert kept("rloo, sixteen passes, right").min() > 0.9985 and "ends at 0.999" in PAGE.text


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


def test_the_successors_of_the_clip():
    mean = lambda words: f"{kept(words).mean():.2f}"
    assert f"ends at {mean('GSPO')} after four passes and at {mean('GSPO, one pass')}" in PAGE.text
    assert f"ends where GRPO does, at {mean('CISPO')} and {mean('GRPO, SGD at 2')}" in PAGE.text
    PAGE.says("0.998", kept("CISPO, sixteen passes").mean())
    assert min(kept(f"{name}, AdamW").mean() for name in ("CISPO", "GSPO")) > 0.99
    assert f"ends at {mean('CISPO, cap 0.2')} in place of 0.97" in PAGE.text


def test_after_one_step_most_completions_are_over_the_bounds_of_gspo_and_cispo_goes_far_in_sixteen():
    PAGE.says("71", kept("GSPO, percent clipped").mean())
    PAGE.spread("1.1 ± 0.3", kept("CISPO, sixteen passes, kl"))


def test_at_the_other_files_rate_the_first_screen_ends_below_one_half():
    assert kept("GRPO, SGD at 4").min() > 0.95
    assert vars(compare.OPENING.other)["rate_a"] == 24 and "at PPO's 24" in PAGE.text
