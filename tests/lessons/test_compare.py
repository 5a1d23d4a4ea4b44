"""The page that compares any two algorithms: what its numbers are computed by, and what it says without a number."""

import re
from functools import cache, partial
from itertools import combinations

import numpy as np
import pytest

from sim.algorithms import grpo, ppo, rloo
from sim.algorithms.names import FILES
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.lessons import spreads
from tools.pages import algorithm_pairs, bound, fences, lineage
from widgets.compare import widget as compare

TEXT = bound.page("compare")
kept = partial(spreads.values, "compare")


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


def end(words):
    """The mean of twenty runs."""
    return kept(words).mean()


def six(how):
    """Where the six files end."""
    return [end(f"{name}, {how}") for name in FILES]


def apart():
    """How far the six end from each other, each at its own rate with SGD and all at one with AdamW."""
    own = [end(f"{name}, SGD at {rate}") for name, rate in OWN.items()]
    return max(np.ptp(own), np.ptp(six("AdamW at 8")))


def ends(values):
    return min(values), max(values)


def steps(name):
    """Optimizer steps of sixty updates."""
    return 60 * FILES[name].HP["inner_epochs"]


def row(name):
    """What the table has of a file; DAPO's completions to the thousand."""
    drawn = round(end("DAPO, completions"), -3) if name == "DAPO" else 60 * 64
    one_rate, own, adamw = (end(f"{name}, {how}") for how in ("SGD at 2", f"SGD at {OWN[name]}", "AdamW at 8"))
    return one_rate, own, OWN[name], adamw, steps(name), drawn


@cache
def divisors():
    """(tokens of a completion, deviation of a group that has one) in ten updates of GRPO."""
    lengths, deviations = [], []
    for event in modsum_run(grpo).iterate(10):
        if event.stage == 3:
            batch = event.summary["batch"]
            deviation = batch.accuracy.reshape(-1, batch.K).std(axis=1, ddof=1)
            lengths.append(batch.response_mask.sum(axis=1).mean())
            deviations.extend(deviation[deviation > 0])
    return np.mean(lengths), np.mean(deviations)


def without_the_kl():
    """Where GRPO ends under AdamW."""
    made = modsum_optimizer("AdamW", 8.0)
    run = modsum_run(grpo, optimizer=made, hyper=dict(beta=0.0), exact_every=60)
    return list(run.frames(60))[-1].exact["pass_rate"].mean()


def test_a_best_rate_on_offer_is_the_best_of_its_neighbors():
    assert end("GRPO, SGD at 4") > max(end("GRPO, SGD at 2"), end("GRPO, SGD at 8"))
    for name in ("PPO", "Dr.GRPO"):
        assert end(f"{name}, SGD at 40") > end(f"{name}, SGD at 24")


def test_every_two_of_the_six_files_are_a_patch_and_so_every_arrow_of_the_drawing():
    there = re.findall(r"^sim/algorithms/(\w+)\.py -> sim/algorithms/(\w+)\.py$", TEXT, re.M)
    files = [file.__name__.rpartition(".")[2] for file in FILES.values()]
    assert there == list(combinations(files, 2))
    assert {(lineage.NODES[old][0], lineage.NODES[new][0]) for old, new in lineage.EDGES} <= set(there)


def pairs_with(*runs):
    """The blocks of the page that stand for two runs: (names that each concerns, text)."""
    body = re.search(r"^```patches\n(.*?)\n```", TEXT, re.M | re.S)[1].partition("\n\n")[2]
    patches = dict(map(fences.parsed, body.split("\n\n")))
    blocks = re.split(r"(?=<div(?: class=now)? data-of=)", algorithm_pairs.figures(patches, runs))[1:]
    return [re.sub("<[^>]+>", "", block) for block in blocks if block.startswith("<div class=now")]


def changed(*runs):
    """(lines that the patch takes out, puts in)."""
    (only,) = pairs_with(*runs)
    return [int(n) for n in re.search(r"−(\d+) \+(\d+)", only).groups()]


def test_two_files_show_their_own_patch_and_no_other():
    for runs in (("GRPO", "RLOO"), ("RLOO", "GRPO")):
        (only,) = pairs_with(*runs)
        assert only.startswith("sim/algorithms/grpo.py → rloo.py")
        # HP, two of advantage, four of surrogate, weights, two of kl_term; one each
        assert changed(*runs) == [10, 5]
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


def test_the_first_screen_has_one_file_at_its_own_rate_and_then_at_the_other_s():
    assert kept("GRPO, SGD at 4").min() > 0.95 and kept("PPO, SGD at 24").min() > 0.98
    assert vars(compare.OPENING.other)["rate_a"] == 24


def test_with_rewards_of_0_and_1_a_baseline_changes_little():
    assert abs(end("REINFORCE, SGD at 2") - end("RLOO, SGD at 2")) < 0.03
