"""The numbers of the lesson on step labels and step rewards, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import step_credit, step_labels
from sim.estimators.step_labels import AGREE, ANY, MORE, PEOPLE, SHARE
from sim.experiments import step_rewards, step_scorer
from sim.experiments.step_rewards import MIN, NEED, OUTCOME, PROGRESS, SUM, UPDATES, H
from sim.worlds import step_chain
from sim.worlds.optimizer import SGD, AdamW
from tests.lessons.prose import Lesson, agrees
from widgets.process_rewards import figures, widget

OPTIMIZERS = dict(AdamW=lambda: AdamW(0.05, clip=1.0), SGD=lambda: SGD(0.3))
LESSON = Lesson("17a")


@cache
def scorer(seed, rule, K, part=0.25, rescue=step_chain.RESCUE, chains=step_scorer.CHAINS):
    return step_scorer.run(rule, K, part, rescue, chains, seed)


def best(*setting):
    """F1 at the scorer's own threshold, by the seed."""
    return lambda seed: scorer(seed, *setting).at(scorer(seed, *setting).best).F1


def at_half(*setting):
    return lambda seed: scorer(seed, *setting).at(step_scorer.HALF).F1


def apart(seed):
    """How far the scorers of shares of one ending and of sixteen are apart, mean over the same steps."""
    return float(np.abs(scorer(seed, SHARE, 1).prob - scorer(seed, SHARE, 16).prob).mean())


@cache
def trained(seed, form, optimizer, less=0.0, filler=0.95):
    """(share solved, steps, reward of the last twenty batches)"""
    training = step_rewards.train(form, np.random.default_rng(seed), OPTIMIZERS[optimizer](), filler, less)
    updates = list(training)
    return *step_rewards.outlook(updates[-1].logits), float(np.mean([u.reward for u in updates[-20:]]))


def end(which, *setting):
    return lambda seed: trained(seed, *setting)[which]


def early(form, optimizer):
    """The share solved after the first updates."""

    def solved(seed):
        training = step_rewards.train(form, np.random.default_rng(seed), OPTIMIZERS[optimizer](), updates=EARLY)
        return step_rewards.outlook(list(training)[-1].logits)[0]

    return solved


EARLY = 40
SOLVED, STEPS, REWARD = range(3)
COUNTS, FEW = (1, 2, 4, 8, 16), 5
RULED = [(rule, K) for rule in (ANY, SHARE, MORE, AGREE) for K in COUNTS] + [(PEOPLE, 1)]
STRONG = [(ANY, 4, 0.25, 0.2), (MORE, 16, 0.5, 0.2), (SHARE, 16, 0.25, 0.2)]
TAKEN = (0.8, 0.9, 0.95, 1.0, 1.2)
RUNS = [(form, o) for form in (OUTCOME, SUM, MIN, PROGRESS) for o in OPTIMIZERS]
RUNS += [(SUM, o, less) for less in TAKEN for o in OPTIMIZERS]
RUNS += [(form, o, 0.0, 0.0) for form in (SUM, MIN) for o in OPTIMIZERS]
MEASURED = {
    **{f"F1, {rule}, {K}": best(rule, K) for rule, K in RULED},
    **{f"F1 at a half, {rule}, {K}": at_half(rule, K) for rule, K in RULED},
    **{f"F1, more than half, {K}": best(MORE, K, 0.5) for K in COUNTS},
    **{f"F1, {SHARE}, {K}, few chains": best(SHARE, K, 0.25, step_chain.RESCUE, FEW) for K in (1, 16)},
    "scores of one and sixteen apart": apart,
    **{f"F1, {rule}, {K}, rescue 0.2": best(rule, K, part, rescue) for rule, K, part, rescue in STRONG},
    "threshold, share": lambda seed: scorer(seed, SHARE, 16).best,
    **{f"solved, {'; '.join(map(str, run))}": end(SOLVED, *run) for run in RUNS},
    **{f"steps, {'; '.join(map(str, run))}": end(STEPS, *run) for run in RUNS},
    **{f"reward, {form}; AdamW": end(REWARD, form, "AdamW") for form in (SUM, PROGRESS)},
    **{f"solved after {EARLY}, {form}; {o}": early(form, o) for form in (OUTCOME, PROGRESS) for o in OPTIMIZERS},
}


def kept(what, *run):
    return LESSON.kept(f"{what}, {'; '.join(map(str, run))}")


def test_chances_and_rates_of_the_third_step():
    V = step_chain.chain_values()
    LESSON.says("0.63", V[3, 1])
    LESSON.says("0.19", V[3, 0])
    LESSON.says("0.98", step_labels.any_rates(V[3, 1], 4))
    LESSON.says("0.56", step_labels.any_rates(V[3, 0], 4))
    LESSON.says("0.998", step_labels.more_than_rate(V[3, 1], 16, 0.25))
    LESSON.says("0.16", step_labels.more_than_rate(V[3, 0], 16, 0.25))
    assert "at about $K$ = 2; where flawed steps are rescued with 0.2, at 1." in LESSON.text
    LESSON.says("2.003", step_labels.best_K(V[3, 1], V[3, 0]))
    LESSON.says("0.629", V[3, 1])
    LESSON.says("0.185", V[3, 0])
    stronger = step_chain.chain_values(rescue=0.2)[3]
    assert abs(step_labels.best_K(stronger[1], stronger[0]) - 1) < 0.05
    LESSON.says("0.59", 0.9**5)
    LESSON.says("0.23", V[1:, 0].max())
    LESSON.says("0.55", V[1:, 1].min())
    assert round(16 * V[3, 1]) == 10 and round(16 * V[3, 0]) == 3


def test_the_steps_that_are_called_bad_first():
    assert (figures.first_bad(2), figures.first_bad(16), figures.WRONG) == (5, 8, 5)
    assert "the first step called bad is the fifth, the first flawed one. With sixteen it is the eighth" in LESSON.text


TABLE = {  # of F1 by completions, as its rows are called there: what is kept
    "any is right": f"F1, {ANY}",
    "more than a quarter": f"F1, {MORE}",
    "more than half": "F1, more than half",
    "share": f"F1, {SHARE}",
    "any, kept where a person agrees": f"F1, {AGREE}",
    "any is right, at ½": f"F1 at a half, {ANY}",
    "share, at ½": f"F1 at a half, {SHARE}",
}


def test_first_errors_by_completions_over_twenty_seeds():
    spreads = []
    for row, words in TABLE.items():
        of = [LESSON.kept(f"{words}, {K}") for K in COUNTS]
        spreads += [values.std(ddof=1) for values in of]
        cells = " | ".join(f"{values.mean():.3f}" for values in of)
        assert f"| {row} | {cells} |" in LESSON.text, (row, cells)
    assert f"The standard deviations are {min(spreads):.3f} to {max(spreads):.3f}" in LESSON.text
    for number, words in (
        ("0.302 ± 0.012", f"F1 at a half, {SHARE}, 16"),
        ("0.787 ± 0.012", f"F1, {SHARE}, 16"),
        ("0.788 ± 0.012", f"F1, {SHARE}, 1"),
        ("0.346 ± 0.018", f"F1, {ANY}, 16"),
        ("0.805 ± 0.012", f"F1, {PEOPLE}, 1"),
        ("0.758 ± 0.014", f"F1 at a half, {PEOPLE}, 1"),
        ("0.411 ± 0.020", f"F1, {ANY}, 4, rescue 0.2"),
        ("0.807 ± 0.013", f"F1, {SHARE}, 16, rescue 0.2"),
    ):
        LESSON.spread(number, LESSON.kept(words))
    LESSON.says("0.29", LESSON.kept("threshold, share").mean())


def test_no_rule_ends_higher_with_sixteen_completions_than_with_one():
    for words in list(TABLE.values())[:5]:
        gained = LESSON.kept(f"{words}, 16") - LESSON.kept(f"{words}, 1")
        assert gained.mean() < 2 * gained.std(ddof=1) / len(gained) ** 0.5, words
    assert abs(LESSON.kept(f"F1, {SHARE}, 16").mean() - LESSON.kept(f"F1, {SHARE}, 1").mean()) < 0.002


def test_agreement_is_no_better_than_the_person_alone_from_two_completions_on():
    alone = LESSON.kept(f"F1, {PEOPLE}, 1")
    assert all((LESSON.kept(f"F1, {AGREE}, {K}") - alone).mean() < 0 for K in COUNTS[1:])


def test_shares_of_one_completion_teach_what_those_of_sixteen_do_where_chains_are_many():
    LESSON.says("0.0035", LESSON.kept("scores of one and sixteen apart").mean())
    one, sixteen = (LESSON.kept(f"F1, {SHARE}, {K}, few chains") for K in (1, 16))
    LESSON.spread("0.755 ± 0.057", one)
    LESSON.spread("0.780 ± 0.035", sixteen)
    gained = sixteen - one
    assert gained.mean() > 2 * gained.std(ddof=1) / len(gained) ** 0.5


def test_what_each_form_ends_with_over_twenty_seeds():
    rows = {
        "the outcome alone": (OUTCOME,),
        "progress": (PROGRESS,),
        "the least score": (MIN,),
        "scores, added up": (SUM,),
        "with 0.8 off each step": (SUM, 0.8),
        "with 0.9 off": (SUM, 0.9),
        "with 0.95 off": (SUM, 0.95),
        "with 1 off": (SUM, 1.0),
        "with 1.2 off": (SUM, 1.2),
        "with filler scored 0": (SUM, 0.0, 0.0),
        "with filler scored 0, least score": (MIN, 0.0, 0.0),
    }
    for words, (form, *rest) in rows.items():
        (row,) = [line for line in LESSON.text.splitlines() if line.startswith(f"    | {words} |")]
        said = [cell.strip() for cell in row.strip(" |").split("|")][1:]
        for i, optimizer in enumerate(OPTIMIZERS):
            agrees(said[2 * i], 100 * kept("solved", form, optimizer, *rest))
            agrees(said[2 * i + 1], kept("steps", form, optimizer, *rest))
    LESSON.counts("SGD solves more than 90 of 100 in {} of twenty seeds", kept("solved", SUM, "SGD", 0.9) > 0.9)
    assert (kept("solved", SUM, "AdamW", 0.9) > 0.9).all() and "AdamW does in all twenty" in LESSON.text
    assert trained(0, SUM, "AdamW", 0.9)[SOLVED] < 0.01 and trained(0, SUM, "AdamW", 0.9)[STEPS] > H - 1


def test_three_forms_hold_in_every_seed_and_the_sum_in_none():
    three = [kept("solved", form, o) for form in (OUTCOME, MIN, PROGRESS) for o in OPTIMIZERS]
    assert np.min(three) >= 0.97 and "each with at least 97 % solved in every seed" in LESSON.text
    for optimizer in OPTIMIZERS:
        assert kept("solved", SUM, optimizer).max() < 0.005 and kept("solved", SUM, optimizer, 1.2).max() < 0.005
        assert kept("steps", SUM, optimizer, 1.2).max() < 0.05
        assert (kept("solved", SUM, optimizer, 1.0) < 0.01).all()
    assert (kept("solved", MIN, "SGD", 0.0, 0.0) < 0.005).all()
    assert (kept("solved", SUM, "AdamW", 0.95) > 0.99).all() and (kept("solved", SUM, "SGD", 0.95) < 0.02).all()


def test_progress_is_faster_with_sgd_and_level_with_adamw():
    for words, form, optimizer in (
        ("73.4 ± 1.2", PROGRESS, "SGD"),
        ("29.8 ± 2.8", OUTCOME, "SGD"),
        ("90.4 ± 0.3", PROGRESS, "AdamW"),
        ("90.7 ± 0.3", OUTCOME, "AdamW"),
    ):
        LESSON.spread(words, 100 * kept(f"solved after {EARLY}", form, optimizer))


def test_where_filler_is_scored_0_a_policy_that_does_not_count_does_best_without_a_stop():
    left = np.arange(1, H - NEED + 1)  # steps that are left, once the work is done
    paid = []
    for stop in np.linspace(0, 1, 101):
        before = np.cumprod(np.r_[1, np.full(H - NEED - 1, 1 - stop)])
        paid.append((before * (stop + (1 - stop) * step_rewards.RATED)).sum())
    assert np.argmax(paid) == 0 and paid[0] == pytest.approx(left[-1] * step_rewards.RATED)


def test_the_first_policy_is_paid_under_2_by_the_sum():
    steps = sum((2 / 3) ** t for t in range(1, H + 1))
    assert 1.7 < steps * (0.8 + 0.95) / 2 + step_rewards.outlook(np.zeros((NEED + 1, 3)))[0] < 1.9


def test_of_early_flawed_steps_few_are_kept_where_both_must_agree():
    """Exact: how many chains are flawed at each step, and how often a person and any of K say the same of one."""
    flawed = [0.1]
    for _ in range(3):
        flawed.append(flawed[-1] * (1 - step_chain.RESCUE) + (1 - flawed[-1]) * (1 - step_chain.SOUND))
    for said, K in (("23", 8), ("9", 16)):
        good = step_labels.any_rates(step_chain.chain_values()[1:5, 0], K)
        both = step_labels.PERSON * good + (1 - step_labels.PERSON) * (1 - good)
        LESSON.says(said, 100 * np.average(both, weights=flawed))
    assert "Of the flawed ones among the first four steps 23 % are kept at eight and 9 % at sixteen" in LESSON.text


def test_what_chains_are_paid_by_the_sum():
    LESSON.says("11.4", H * 0.95)
    LESSON.says("4.2", NEED * step_rewards.RATED + 1)
    LESSON.says("1.05", step_rewards.RATED + 1 / NEED)  # off each of four steps, and nothing of the 1 is left


def test_between_0_95_and_1_05_the_best_policy_works_four_times_and_stops():
    def best(less):
        """By the work done, what brings most with any number of steps left: the value of each, from the last step."""
        value, choice = np.zeros(NEED + 1), None
        for _ in range(H):
            work = step_rewards.RATED - less + value[np.minimum(np.arange(NEED + 1) + 1, NEED)]
            stop = (np.arange(NEED + 1) == NEED) * 1.0
            options = np.array([work, 0.95 - less + value, stop])
            value, choice = options.max(axis=0), options.argmax(axis=0)
        return choice.tolist()

    for less in (0.96, 1.0, 1.04):
        assert best(less) == [0, 0, 0, 0, 2]
    assert best(1.06)[0] == 2 and best(0.9)[NEED] == 1


def test_the_opening_begins_and_ends_as_the_front_matter_says():
    opening = {moment: figures.followed(figures.SETTINGS[1])[moment][0].reward for moment in (0, UPDATES)}
    assert 1 < opening[0] < 2
    LESSON.says("11.4", opening[UPDATES])
    assert figures.followed(figures.SETTINGS[0])[UPDATES][1] > 0.99


def test_what_the_links_of_the_labels_show():
    many = scorer(0, ANY, 16)
    LESSON.says("68", 100 * many.false_positives)
    LESSON.says("96", 100 * step_labels.any_rates(step_chain.chain_values()[3, 0], 16))
    LESSON.says("0.79", many.best)
    LESSON.says("0.35", many.at(many.best).F1)
    none = scorer(0, ANY, 16, 0.25, 0.0)
    LESSON.says("0.80", none.at(none.best).F1)
    LESSON.says("0.70", LESSON.kept(f"F1, {ANY}, 4").mean())
    LESSON.says("0.41", LESSON.kept(f"F1, {ANY}, 4, rescue 0.2").mean())


def test_variances_of_the_table():
    for L, ratio in ((4, "7"), (16, "31"), (64, "127")):
        flat, step = step_credit.additive(L, 0.5, 0.5)
        LESSON.says(f"{flat:g}", flat)
        LESSON.says(f"{step:g}", step)
        LESSON.says(ratio, flat / step)
    for p, L, said in (
        (0.5, 8, ("0.00775", "0.00094", "8.23")),
        (0.9, 8, ("0.1234", "0.1641", "0.75")),
        (0.9, 16, ("0.0626", "0.1047", "0.60")),
    ):
        flat, step = step_credit.all_or_nothing(L, p)
        for number, value in zip(said, (flat, step, flat / step)):
            LESSON.says(number, value)
    flat, step = step_credit.all_or_nothing(8, 0.798)
    assert abs(flat / step - 1) < 0.005
    for p, said in (
        (0.9, ("0.1641", "0.1649", "0.1714", "0.1741")),
        (0.5, ("0.00094", "0.00126", "0.00505", "0.00681")),
    ):
        for number, lam in zip(said, (0, 0.5, 0.95, 1)):
            LESSON.says(number, step_credit.gae_variance(8, p, lam))


def test_values_by_nine_completions_of_each_prefix_and_their_price():
    for number, p in (("0.1776", 0.9), ("0.00235", 0.5)):
        LESSON.says(number, step_credit.sampled_values(8, p, 9))
    flat, easy = (step_credit.all_or_nothing(8, p)[0] for p in (0.5, 0.9))
    assert step_credit.sampled_values(8, 0.5, 9) < flat / 3 and step_credit.sampled_values(8, 0.9, 9) > easy
    chains = step_credit.prefix_tokens(8, 9)
    LESSON.says("40.5", chains)
    LESSON.says("41.5", chains + 1)
    LESSON.says("0.00019", flat / (chains + 1))


def test_the_usual_numbers_of_the_verdicts():
    assert abs(kept("solved", PROGRESS, "AdamW").mean() - 0.997) < 0.001
    assert abs(kept("steps", PROGRESS, "AdamW").mean() - 4.4) < 0.1
    assert widget.GUESS.answers[widget.GUESS.right] == "0.3"
