"""The small figures of lesson 13: what an update draws and throws away, round by round, what a live group costs, the
room above a token, a group kept for its length, one pair of curves on three axes, and entropy under coin flips.
"""

from functools import cache

import numpy as np

from sim.algorithms import dapo, grpo
from sim.estimators import clip_entropy, group_baselines, surrogate
from sim.experiments import refill
from sim.experiments.standard_runs import modsum_run
from sim.framework.controller import Controller
from sim.worlds import modsum
from sim.worlds.optimizer import SGD
from widgets.frame.drawing import scene, trays
from widgets.frame.drawing.marks import by_update, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed

K, GROUPS, RATE = 8, 8, 4.0

# ── what an update draws, with two settings ──
SETTINGS = ("sampled once", "sampled again")
SEED, UPDATES, UPDATES_SHOWN = 0, 30, 60
NAMED = 1.4  # squares of the line that names the tones
LIE = trays.Sorted(4, GROUPS, 64)  # eight rounds of groups at most
MOMENTS = (5, 11, 14, 24, 28, 32, 35, 38, 42, 46, 50, 53, 56, 58, 60)  # updates whose draw is typical of the policy's


def run(**hooks):
    return modsum_run(dapo, seed=SEED, c=modsum.HARD, learning_rate=RATE, hooks=hooks)


@cache
def trained(setting):
    """(completions drawn, pass rate, what was drawn) after each update, the start first."""
    once = dict(keep_group=grpo.keep_group) if setting == SETTINGS[0] else {}
    updates = refill.updates(run(**once), UPDATES_SHOWN)
    start = modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"].mean()
    return ((0, start, None), *((frame.completions, frame.exact["pass_rate"].mean(), draw) for frame, draw in updates))


def rate(setting, update):
    """Right completions of the policy that this update draws from, exact."""
    return float(trained(setting)[update - 1][1])


def drawn(setting, update):
    return trained(setting)[update][2]


def for_nothing(setting, update):
    completions, rates, _ = zip(*trained(setting)[: update + 1])
    return refill.for_nothing(completions, rates, GROUPS * K)


def opening(setting, update):
    draw = drawn(setting, update)
    ring = trays.for_nothing(draw.kept, K) if for_nothing(setting, update) else ""
    return [
        scene.scene(
            "Everything that one update samples",
            trays.COMPARED,
            named(trays.refilled("a", counted(setting, update), LIE, draw.right, draw.kept, ring)),
        )
    ]


def named(view):
    """The same with a line below the first heading that says what the tones of an update are."""
    marks = [
        mark | dict(at=(mark["at"][0], mark["at"][1] + NAMED)) if mark["at"][1] > 0.6 else mark
        for mark in view["marks"]
    ]
    marks += [
        scene.word("correct, pushed up", (0.1, 1.85), "followed"),
        scene.word("wrong, pushed down", (11.0, 1.85), "against"),
        scene.word("all alike: no push", (22.0, 1.85)),
    ]
    return view | dict(high=view["high"] + NAMED, marks=marks)


def counted(setting, update):
    right = drawn(setting, update).right
    live = int((~trays.alike(right)).sum())
    hold = "contains" if live == 1 else "contain"
    return f"{live or 'None'} of {len(right)} groups {hold} a correct answer and a wrong one."


OPENING = Figure(
    opening,
    Controller.collect,
    Handle("Run", SETTINGS, start=1),
    counted,
    Time(
        "Update",
        MOMENTS,
        tuple(f"update {update} of {UPDATES_SHOWN}" for update in MOMENTS),
        start=len(MOMENTS) - 1,
        ticks={i: str(MOMENTS[i]) for i in range(0, len(MOMENTS), 2)},
        strip=Strip(
            "Correct, of 100",
            lambda: [[rate(setting, update) for update in MOMENTS] for setting in SETTINGS],
            lambda setting, update: f"{100 * rate(setting, update):.1f}",
        ),
        holds={0: 1500},
    ),
    stills=((0, len(MOMENTS) - 1), (1, 0)),
)


# ── one batch, round by round ──
WHEN = {"update 5": 5, "update 27": 27}
ROUNDS = tuple(range(2 * 5 + 1))  # a round is drawn, then sorted
TWO = trays.Sorted(2, GROUPS, 16, 2.3)


def rounds(when):
    return refill.rounds(drawn(SETTINGS[1], WHEN[when]).kept, GROUPS)


def by_round(when, moment):
    draw = drawn(SETTINGS[1], WHEN[when])
    cells, places = trays.compared(draw.right), list(range(GROUPS))
    paid, dropped = groups_by(when, moment)
    marks = TWO.headings("b", draw.right[dropped], K * paid)
    marks += [scene.tray(f"f{place}", [None] * K, TWO.kept(place)) for place in places]
    for groups in rounds(when):
        for group, place in zip(groups, places):
            away = group in dropped
            at = TWO.thrown(dropped.index(group)) if away else TWO.kept(place)
            marks.append(scene.tray(f"t{group}", cells[group], at, 0.5 if away else 1.0, group < paid))
        places = [place for group, place in zip(groups, places) if not draw.kept[group]]
    most = max(len(drawn(SETTINGS[1], update).right) for update in WHEN.values())
    marks += [scene.tray(f"t{group}", [None] * K, TWO.kept(0), 1.0, False) for group in range(len(cells), most)]
    dead = int(np.flatnonzero(~draw.kept[:GROUPS])[-1])
    words = f"all {'correct' if draw.right[dead].any() else 'wrong'}: nothing to compare"
    marks.append(
        scene.ring("r", TWO.kept(dead), words, moment == 1, (7.5, 0.7), role="look", anchor=("start", "end")[dead % 2])
    )
    return [
        scene.scene(
            "A batch needs eight groups with something to compare",
            trays.COMPARED,
            scene.view("b", TWO.wide, TWO.thrown(15)[1] + 0.7, round_said(when, moment), *marks),
        )
    ]


def groups_by(when, moment):
    """(how many groups were drawn by then, those of them that were thrown away)."""
    all_rounds, kept = rounds(when), drawn(SETTINGS[1], WHEN[when]).kept
    paid = sum(len(groups) for groups in all_rounds[: (moment + 1) // 2])
    judged = [group for groups in all_rounds[: moment // 2] for group in groups]
    return paid, [group for group in judged if not kept[group]]


def round_said(when, moment):
    kept = drawn(SETTINGS[1], WHEN[when]).kept
    if moment == 0:
        return "The batch has eight places, each for a group with a correct answer and a wrong one."
    paid, dropped = groups_by(when, moment)
    live = int(kept[: sum(map(len, rounds(when)[: moment // 2]))].sum())
    if moment == 1:
        return f"GRPO would train on these eight groups, but only {kept[:GROUPS].sum()} have something to compare."
    if live == GROUPS:
        return (
            f"The batch is full after {K * paid} answers, which is {paid / GROUPS:.3g} times as many as GRPO samples."
        )
    return f"After {K * paid} answers, {live} of 8 places are filled and {len(dropped)} groups are thrown away."


# ── what a live group costs ──
@cache
def hard():
    """Pass rates of the four prompts at the start, from hard to easy."""
    return tuple(np.sort(modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"]).tolist())


def odds(p):
    return np.log(p / (1 - p))


TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)


def price(p):
    grid = 1 / (1 + np.exp(-np.linspace(odds(0.001), odds(0.999), 61)))
    axis = dict(
        x="pass rate p",
        x_range=(odds(0.001) - 0.2, odds(0.999) + 0.2),
        ticks=dict(tickvals=odds(np.array(TICKS)).tolist(), ticktext=[f"{t:g}" for t in TICKS]),
    )
    return [
        panel(
            f"Probability that a group of {K} is live",
            "exact",
            line(odds(grid), group_baselines.live_probability(grid, K), "live", 3),
            dots([odds(p)], [float(group_baselines.live_probability(p, K))], "this prompt", 1),
            y_range=(0, 1.05),
            **axis,
        ),
        panel(
            "Completions per live group",
            "exact mean, logarithmic axis",
            line(odds(grid), group_baselines.completions_per_live_group(grid, K), "completions", 3),
            dots([odds(p)], [float(group_baselines.completions_per_live_group(p, K))], "this prompt", 1),
            y_range=(5, 2000),
            log="y",
            **axis,
        ),
    ]


# ── the room above ──
RARE, COMMON = 0.01, 0.9


def room(eps_high):
    return [
        scene.scene(
            "How far one update pushes a wanted token",
            "out of 100 samples; [followed] before the update, [rest] what the push can add",
            above("r", "A rare token", RARE, eps_high),
            above("c", "A common token", COMMON, eps_high),
        )
    ]


def highest(p, eps_high):
    """Where the objective stops paying for more of a token of advantage 1; 1 if nowhere."""
    return min(p * (1 + eps_high), 1.0)


def above(key, title, p, eps_high):
    edge = highest(p, eps_high)
    drawn_now, most = f"{100 * p:g}", f"{100 * edge:.3g}"
    return scene.view(
        key,
        11.0,
        5.75,
        f"{title} is sampled {drawn_now} times in 100 and can be pushed to {most}.",
        scene.word(title, (0, 0.55), "strong"),
        scene.hundred(f"{key}d", [("followed", p), ("rest", edge - p), ("level", 1 - edge)], (0, 0.95)),
        scene.word(drawn_now, (5.2, 2.1), "count yes"),
        scene.word("of 100, before", (5.2, 2.75), "head"),
        scene.word(most, (5.2, 4.5), "count", key=f"{key}m"),
        scene.word("where the push ends" if edge < 1 else "the push never ends", (5.2, 5.15), "head", key=f"{key}w"),
    )


# ── a group kept for its length ──
BY = ("right or wrong", "reward")
FREE = modsum.T - dapo.HP["L_cache"]  # tokens that cost nothing


@cache
def for_its_length():
    """The first group of a run that is all wrong and was trained on all the same: (prompt, rows, rewards, advantages),
    the shortest row first.
    """
    for event in run(keep_group=refill.by_reward(dapo.shape_reward)).iterate(UPDATES):
        if event.stage == 3:
            batch = event.summary["batch"]
        elif event.stage == 5 and "advantage" in event.summary:
            wrong = np.flatnonzero(batch.accuracy.reshape(-1, K).sum(axis=1) == 0)
            if len(wrong):
                rows = slice(K * wrong[0], K * wrong[0] + K)
                own = [row[mask > 0] for row, mask in zip(batch.tokens[rows], batch.response_mask[rows])]
                paid = dapo.shape_reward(batch.reward, dapo.HP, batch)
                group = zip(own, paid[rows], batch.advantage[rows, 0])
                return batch.example[rows][0], *zip(*sorted(group, key=lambda completion: len(completion[0])))
    raise ValueError("no such group")


def length(by):
    _, rows, paid, advantage = for_its_length()
    priced = by == BY[1]
    paid, advantage = (paid, advantage) if priced else (np.zeros(K), np.zeros(K))
    marks = [
        scene.word("eight wrong answers to one prompt", (0, 0.55), "strong"),
        scene.word("penalty", (FREE + 0.25, 1.4), "head"),
        scene.word("reward", (13.9, 1.4), "head", "middle"),
        scene.word("advantage", (17.2, 1.4), "head", "middle"),
        scene.wall((FREE, 0.95), K + 0.85),
        scene.wall((modsum.T, 0.95), K + 0.85),
        scene.tokens("a", list(map(written, rows)), modsum.T, (0, 1.8)),
    ]
    for i in range(K):
        y = 2.46 + i
        marks.append(scene.word(sign(paid[i]), (13.9, y), "reward no", "middle", f"p{i}"))
        color = "yes" if advantage[i] > 0 else "against" if advantage[i] < 0 else ""
        marks.append(scene.word(sign(advantage[i]), (17.2, y), f"reward {color}", "middle", f"v{i}"))
    words = "advantage from length alone" if priced else ""
    marks.append(scene.ring("r", (15.7, K + 0.95), words, priced, (3.0, 0.8), anchor="end"))
    return [
        scene.scene(
            "A group that is all wrong",
            f"each token after the {FREE}th costs {1 / dapo.HP['L_cache']:g}; shortest answers first",
            scene.view("l", 19.2, K + 3.1, kept_for(by), *marks),
        )
    ]


def written(row):
    return [("stop", "astray") if token == modsum.EOS else (str(token + 1), "no") for token in row]


def sign(value):
    return signed(value) if value else "0"


def kept_for(by):
    _, rows, paid, advantage = for_its_length()
    if by == BY[0]:
        return "All eight answers are wrong, so none has an advantage, and the group is thrown away."
    return (
        f"The longest answer, of {len(rows[-1])} tokens, gets a reward of {sign(paid[-1])} and an advantage of "
        f"{sign(advantage[-1])}. The shortest gets an advantage of {sign(advantage[0])} for being wrong sooner."
    )


# ── one pair of curves, three axes ──
RUNS, RIVAL, BATCH = 8, 96, 64
UPDATE, DRAWN, TRAINED = "updates", "completions sampled", "completions trained on"


@cache
def curves(file, updates):
    """[{what is counted: batches so far}, pass rate, each (updates + 1,)], one a seed."""
    start = modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"].mean()
    by_seed = []
    for seed in range(RUNS):
        run = modsum_run(file, seed=seed, c=modsum.HARD, learning_rate=RATE, hyper=dict(beta=0.0))
        frames = list(run.frames(updates))
        # GRPO trains on all that it draws, DAPO on the groups that it keeps
        kept = np.cumsum([run.K * frame.live_groups if file is dapo else BATCH for frame in frames])
        counted = {
            UPDATE: np.arange(updates + 1),
            DRAWN: np.array([0, *(frame.completions for frame in frames)]) / BATCH,
            TRAINED: np.array([0, *kept]) / BATCH,
        }
        by_seed.append((counted, np.array([start, *(frame.exact["pass_rate"].mean() for frame in frames)])))
    return by_seed


def mean_curve(file, updates, count):
    """The mean of the seeds by what is counted, in batches, as far as every seed goes."""
    by_seed = curves(file, updates)
    x = np.linspace(0, min(counted[count][-1] for counted, _ in by_seed), 61)
    return x, np.mean([np.interp(x, counted[count], rate) for counted, rate in by_seed], axis=0)


def axes(count):
    ours, theirs = mean_curve(dapo, UPDATES, count), mean_curve(grpo, RIVAL, count)
    return [
        panel(
            "Pass rate",
            f"exact, mean of {RUNS} seeds, SGD",
            line(*theirs, "GRPO", 2),
            line(*ours, "DAPO", 1),
            dots([ours[0][-1]], [ours[1][-1]], f"DAPO after {UPDATES} updates", 1),
            label(ours[0][-1], ours[1][-1] + 0.02, "DAPO", 1, "right"),
            label(RIVAL, 0.8, "GRPO", 2, "right"),
            x=f"the chosen count, in batches of {BATCH} completions",
            x_range=(0, RIVAL),
            y_range=(0, 1.12),
        )
    ]


def compared(count):
    (x, ours), (rival, theirs) = mean_curve(dapo, UPDATES, count), mean_curve(grpo, RIVAL, count)
    rates = f"DAPO {ours[-1]:.2f}, GRPO {np.interp(x[-1], rival, theirs):.2f}"
    return {
        UPDATE: f"Pass rates after {UPDATES} updates each: {rates}.",
        DRAWN: f"Pass rates after {BATCH * x[-1]:,.0f} completions sampled by each: {rates}.",
        TRAINED: f"Pass rates after {BATCH * x[-1]:,.0f} completions trained on by each: {rates}.",
    }[count]


# ── coin flips ──
BOUNDS = (0.2, 0.28, 0.5, 1.0, 5.0)


@cache
def coins(eps_high):
    """Mean entropy by update, from uniform; as in the simulator's tab."""
    entropy = clip_entropy.coin_entropy(0.2, eps_high, 4, SGD(RATE), 150, 24, np.random.default_rng(0))
    return entropy.mean(axis=0)


def flips(eps_high):
    x = np.arange(151)
    return [
        by_update(
            "Entropy under coin-flip rewards",
            "nats, 20 actions, mean of 24 runs, SGD at 4",
            *(line(x[::5], coins(other)[::5], f"{other:g}", 8, "other") for other in BOUNDS if other != eps_high),
            line(x[::2], coins(eps_high)[::2], f"{eps_high:g}", 1),
            label(150, coins(eps_high)[-1] - 0.6, f"upper bound {1 + eps_high:g}", 1, "right"),
            updates=150,
            y_range=(0, 3.2),
        )
    ]


RATES = (*hard(), 0.9, 0.99)
EPSILONS = (0.2, 0.28, 0.5, 1.0, 5.0)
COUNTS = (UPDATE, DRAWN, TRAINED)
FIGURES = {
    "opening": OPENING,
    "rounds": Figure(
        by_round,
        Controller.collect,
        Handle("Stage of training", tuple(WHEN), start=0, words=tuple(WHEN)),
        round_said,
        Time(
            "Round",
            ROUNDS,
            (
                "nothing sampled",
                *(f"round {n // 2 + 1}, {('sampled', 'sorted')[n % 2]}" for n in range(len(ROUNDS) - 1)),
            ),
            start=1,
            ticks={2 * n + 1: str(n + 1) for n in range(len(ROUNDS) // 2)},
            milliseconds=700,
            holds={1: 1500},
        ),
        stills=((0, len(ROUNDS) - 1), (1, len(ROUNDS) - 1)),
    ),
    "price": Figure(
        price,
        group_baselines.completions_per_live_group,
        Handle("Pass rate", RATES, start=1, words=tuple(f"{100 * p:.2g} %" for p in RATES), symbol="p"),
        lambda p: (
            f"A prompt with a pass rate of {100 * p:.2g} % takes "
            f"{group_baselines.completions_per_live_group(p, K):.3g} completions per live group on average."
        ),
    ),
    "room": Figure(
        room,
        surrogate.clipped,
        Handle("Upper clip range", EPSILONS, start=2, words=tuple(f"{eps:g}" for eps in EPSILONS), symbol="ε"),
        lambda eps: (
            f"With a bound of {1 + eps:g}, the push can add {100 * RARE * eps:.2g} of 100 samples to the rare token "
            f"and {100 * (highest(COMMON, eps) - COMMON):.2g} to the common one."
        ),
    ),
    "length": Figure(
        length,
        dapo.shape_reward,
        Handle("Groups compared by", BY, start=1, words=("correct or wrong", "reward")),
        kept_for,
    ),
    "axes": Figure(
        axes,
        modsum.exact,
        Handle("Horizontal axis", COUNTS, start=1, words=("updates", "sampled", "trained on")),
        compared,
    ),
    "coins": Figure(
        flips,
        clip_entropy.coin_entropy,
        Handle("Upper clip range", BOUNDS, start=1, words=tuple(f"{eps:g}" for eps in BOUNDS), symbol="ε"),
        lambda eps: (
            f"After 150 updates, the entropy has fallen from 3.00 to {coins(eps)[-1]:.2f} nats, with nothing to learn."
        ),
    ),
}
