"""The small figures of lesson 22c: a policy that does not come to rest, slots and a trainer and the weights they work
with, a push that comes late, what old samples weigh, and which weights change in a step.
"""

from functools import cache, partial
from statistics import NormalDist

import numpy as np

from sim.cluster import pipeline, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from sim.estimators import weight_delta
from sim.experiments import delayed_gradient
from sim.words import counted
from widgets.asynchrony import eight_answers
from widgets.frame.drawing import lanes, piles, scene
from widgets.frame.drawing.marks import by_update, dots, heat, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

# ── a policy under two settings ──
SETTINGS = ("4 updates old", "16 updates old")
LAG = dict(zip(SETTINGS, (4, 16)))
RATE, BETA = 3.0, 0.2  # of the widget's default
AT = tuple(range(0, 465, 29))
BEST, FULL = delayed_gradient.optimum(BETA)
FAR = 10  # of a hundred: so far from where it should be is off


@cache
def course(lag):
    return delayed_gradient.course(lag, RATE, BETA)


def policy(name, update):
    pi = eight_answers.piled(course(LAG[name]).policies[update])
    goal, has = (piles.hundredths(shares)[0] for shares in (eight_answers.piled(BEST), pi))
    off = update > 0 and abs(has - goal) > FAR
    return [
        scene.scene(
            "What a model answers, a dot for each of a hundred answers",
            "eight answers with rewards from 0 to 1, and a KL penalty",
            eight_answers.view("b", "where it should come to rest", BEST, role="before", worth=False),
            eight_answers.view(
                "n",
                "before training" if update == 0 else f"after update {update}",
                course(LAG[name]).policies[update],
                (0, f"should have {goal}, has {has}", "broken") if off else None,
            ),
        )
    ]


def on_best(name, update):
    return piles.hundredths(eight_answers.piled(course(LAG[name]).policies[update]))[0]


def rests_or_not(name, update):
    has = on_best(name, update)
    if update == 0:
        return "Before training, all eight answers are equally likely."
    late = 100 * course(LAG[name]).best[-200:]
    if update < AT[-1]:
        return f"The best answer should come to rest at {on_goal()} of 100."
    if np.ptp(late) < 1:
        return f"The best answer stays at {has} of 100."
    return f"The best answer swings between {late.min():.0f} and {late.max():.0f} of 100."


def on_goal():
    return piles.hundredths(eight_answers.piled(BEST))[0]


OPENING = Figure(
    policy,
    delayed_gradient.course,
    Handle("Run", SETTINGS, start=1),
    rests_or_not,
    Time(
        "Update",
        AT,
        tuple(f"update {update}" for update in AT),
        start=len(AT) - 1,
        ticks={i: str(AT[i]) for i in range(0, len(AT), 4)},
        strip=Strip(
            "Best answer, times in 100",
            lambda: [course(LAG[name]).best[: AT[-1] + 1 : 4].tolist() for name in SETTINGS],
            lambda name, update: str(on_best(name, update)),
        ),
        milliseconds=520,
        holds={0: 900},
    ),
    stills=((0, len(AT) - 1),),
)

# ── six slots and a trainer ──
MODEL, CHIP, LAW, PROMPT = MODELS["qwen2.5-7b"], ACCELERATORS["h100"], Law(1500, 4182, 9646, 8192), 512
B, UPDATES, TRAIN, SYNC = 6, 40, 13.0, 1.0  # a small copy of the widget's job: as many slots as a batch has
WAYS = ("synchronous", "one-step off-policy", "asynchronous", "asynchronous, 4 ahead")
HEADS = {"asynchronous": 1, "asynchronous, 4 ahead": 4}
UNTIL, TICK = 120, 10  # seconds that are drawn
NARROW = 3.0  # seconds: a shorter span has no number


@cache
def small(way, slots=B):
    """The run of a way; all have the same lengths."""
    drawn = np.ceil(LAW.at(np.random.default_rng(0).standard_normal(B * (UPDATES + 12))))
    seconds = partial(throughput.iteration_seconds, MODEL, CHIP)
    if way in HEADS:
        return pipeline.stream(drawn.tolist(), UPDATES, B, PROMPT, seconds, TRAIN, SYNC, HEADS[way], slots)
    batches = drawn[: B * UPDATES].reshape(UPDATES, B)
    generated = {"synchronous": pipeline.one_after_the_other, "one-step off-policy": pipeline.one_batch_ahead}[way]
    return generated(batches, PROMPT, seconds, TRAIN, SYNC, slots)


@cache
def laid(way):
    """(second of the first, completions in slots, waits of slots, updates, waits of the trainer)."""
    run = small(way)
    zero = run.train[run.settled.start, 0]
    written = pipeline.in_slots(run, zero, zero + UNTIL)
    slots = [[(max(c.start - zero, 0.0), c.finish - zero) for c in written if c.slot == n] for n in range(B)]
    training = [(v, begins - zero, ends - zero) for v, (begins, ends) in enumerate(run.train)]
    training = [(v, begins, ends) for v, begins, ends in training if ends > 0 and begins < UNTIL]
    waits = [(n, *gap) for n, busy in enumerate(slots) for gap in gaps(busy)]
    return zero, written, waits, training, gaps([(begins, ends) for _, begins, ends in training])


def gaps(busy):
    """What lies between spans and up to the end of the board."""
    ends = [0.0, *(end for _, end in busy)]
    begins = [*(start for start, _ in busy), float(UNTIL)]
    return [(end, min(start, UNTIL)) for end, start in zip(ends, begins) if min(start, UNTIL) - end > 0.3]


def followed(way):
    """The last update that begins in time to be seen."""
    return max(v for v, begins, _ in laid(way)[3] if begins < UNTIL - 1.5 * TRAIN)


def number(version):
    """What a version is called: the oldest that any way shows is 1."""
    return str(version - oldest_shown() + 1)


@cache
def oldest_shown():
    return min(one.began for way in WAYS for one in laid(way)[1])


def slots(way, second):
    zero, written, waits, training, idle = laid(way)
    most = [max(len(laid(each)[i]) for each in WAYS) for i in (1, 2, 3, 4)]
    marks = []
    for i in range(most[0]):
        done = written[i] if i < len(written) else None
        start, end = (done.start - zero, done.finish - zero) if done else (2 * UNTIL, 2 * UNTIL)
        text = number(done.began) if done and min(end, UNTIL) - max(start, 0) > NARROW else ""
        role = "work" if done and done.update == followed(way) else "other"
        marks.append(lanes.run(f"c{i}", done.slot if done else 0, max(start, 0.0), end, role, text))
    for i in range(most[1]):
        n, start, end = waits[i] if i < len(waits) else (0, 2 * UNTIL, 2 * UNTIL)
        marks.append(lanes.span(f"w{i}", n, start, end, "waits"))
    for i in range(most[2]):
        v, start, end = training[i] if i < len(training) else (0, 2 * UNTIL, 2 * UNTIL)
        text = number(v) if min(end, UNTIL) - max(start, 0) > NARROW else ""
        marks.append(lanes.span(f"t{i}", B, max(start, 0.0), end, "work" if v == followed(way) else "other", text))
    for i in range(most[3]):
        start, end = idle[i] if i < len(idle) else (2 * UNTIL, 2 * UNTIL)
        marks.append(lanes.span(f"i{i}", B, start, end, "waits"))
    oldest, trained_at = oldest_of(way)
    age = followed(way) - oldest.began
    seen = second >= trained_at
    words = f"{counted(age, 'update')} old when trained on" if age else "new when trained on"
    rows, start, end = (oldest.slot, oldest.slot), max(oldest.start - zero, 0), oldest.finish - zero
    marks.append(lanes.spot("r", rows, start, end, words if seen else "", seen, "look"))
    return [
        scene.scene(
            "Six slots of an engine, and a trainer",
            "number: the weights it was started with; [work] one batch and its update; hatched: waiting",
            lanes.board(
                "s",
                how_old(way, second),
                UNTIL,
                [*((f"slot {n + 1}", "") for n in range(B)), ("trainer", "")],
                *marks,
                tall=22,
                gap=8,
                top=62,
                ticks=(0, 30, 60, 90, 120),
                unit=" s",
                now=second,
            ),
        )
    ]


def oldest_of(way):
    """(the completion that is oldest of the followed batch, the second at which its update begins)."""
    _, written, _, training, _ = laid(way)
    batch = [done for done in written if done.update == followed(way)]
    oldest = min(batch, key=lambda done: (done.began, done.start - done.finish))  # of equal age the longest
    return oldest, next(begins for v, begins, _ in training if v == followed(way))


def how_old(way, second):
    run = small(way)
    lag = run.lag[run.settled]
    if lag.max() == 0:
        return f"A step takes {run.step_seconds:.0f} s, and nothing is old, because each side waits for the other."
    mean = f"{lag.mean():.1f}"
    if lag.max() == lag.min():
        return f"A step takes {run.step_seconds:.0f} s, and every completion has a lag of one update."
    return f"A step takes {run.step_seconds:.0f} s. The mean lag is {mean} updates, and the largest is {lag.max()}."


# ── a push that comes late ──
AGES = {"fresh": 0, "4 updates old": 4, "16 updates old": 16}
LATE = tuple(range(0, 121, 5))
NEW, WIDE, TALL = 9.4, 18.0, 9.9  # in squares: where the present policy stands, the view
ZERO, REACH = 9.0, 8.5  # where no push is, and how long the longest arrow is


@cache
def longest_push():
    return max(abs(push(lag, update)) for lag in AGES.values() for update in LATE)


def push(lag, update):
    """What the next update adds to the log-probability of the best answer."""
    best = course(lag).best
    return float(np.log(best[update + 1] / best[update]))


def late(age, update):
    lag = AGES[age]
    written = max(update - lag, 0)
    old, now = (float(course(lag).best[at]) for at in (written, update))
    pushed, wrong = push(lag, update), wrong_way(lag, update)
    up = pushed > 0
    return [
        scene.scene(
            "One update: what it learns from, and what it changes",
            "of a hundred answers; [followed] the best one",
            scene.view(
                "v",
                WIDE,
                TALL,
                f"Written at update {written}: the best answer has {100 * old:.0f} of 100; now it has {100 * now:.0f}.",
                scene.word("it learns from answers", (0, 0.55), "strong"),
                scene.word(f"written at update {written}", (0, 1.3), "head", key="ow"),
                scene.hundred("o", [("followed", old), ("rest", 1 - old)], (0, 1.8)),
                scene.word(f"{100 * old:.0f}", (5.2, 3.6), "count yes", key="oc"),
                scene.word("best", (5.2, 4.4), "head"),
                scene.word("it would answer now", (NEW, 0.55), "strong"),
                scene.word(f"at update {update}", (NEW, 1.3), "head", key="nw"),
                scene.hundred("n", [("followed", now), ("rest", 1 - now)], (NEW, 1.8)),
                scene.word(f"{100 * now:.0f}", (NEW + 5.2, 3.6), "count yes", key="nc"),
                scene.word("best", (NEW + 5.2, 4.4), "head"),
                scene.word(f"should be {100 * BEST[-1]:.0f}", (NEW + 5.2, 5.3), "head"),
                scene.ring("r", (NEW, 1.8), wrong, bool(wrong), (120 / 26, 120 / 26), anchor="middle"),
                scene.word("it pushes the best answer", (0, 7.7), "strong"),
                scene.rail((ZERO - REACH, 8.7), 2 * REACH),
                scene.post((ZERO, 8.1), 1.2, "zero"),
                # an arrow begins beside a bead, and here there is none
                scene.arrow(
                    "a",
                    (ZERO + (-1 if up else 1) * 12 / 26, 8.9),
                    REACH * pushed / longest_push(),
                    "own up" if up else "own down",
                ),
                scene.word("down", (ZERO - REACH, 9.6), "head"),
                scene.word("up", (ZERO + REACH, 9.6), "head", "end"),
            ),
        )
    ]


def wrong_way(lag, update):
    """What is wrong with the next push, if it leads farther from where the policy should be; "" if nothing is."""
    share, pushed = 100 * course(lag).best[update], push(lag, update)
    if update and share < 100 * BEST[-1] - FAR and pushed < 0:
        return "too rare, and pushed down"
    if update and share > 100 * BEST[-1] + FAR and pushed > 0:
        return "too common, and pushed up"
    return ""


def steers(age, update):
    lag = AGES[age]
    now, way = 100 * course(lag).best[update], "up" if push(lag, update) > 0 else "down"
    if update and abs(now - 100 * BEST[-1]) < 1 and abs(push(lag, update)) < 0.01:
        return f"At update {update} the best answer has {now:.0f} of 100, as it should, and nothing pushes it."
    old = 100 * course(lag).best[max(update - lag, 0)]
    if lag == 0:
        return f"The best answer has {now:.0f} of 100, and the update pushes it {way}."
    return f"The policy learns from {old:.0f} best answers in 100, but would now give {now:.0f}. It is pushed {way}."


# ── late steering ──
DELAYS = (0, 4, 6, 7, 8, 16)
STEERED = 200  # updates
STEP = 3.0 * 0.2 * delayed_gradient.curvature(0.2)  # of the widget's default


def distance(delay):
    x = np.arange(STEERED + 1)
    return [
        by_update(
            "A distance, steered towards 0",
            f"each update removes {STEP:.2f} of an older distance; [s8] no lag",
            line(x, delayed_gradient.steering(0, STEP, STEERED), "no lag", 8, "other"),
            line(x, np.clip(delayed_gradient.steering(delay, STEP, STEERED), -9, 9), f"lag {delay}", 1),
            updates=STEERED,
            y_range=(-2.5, 2.5),
        )
    ]


def rests(delay):
    limit = delayed_gradient.step_limit(delay)
    return (
        f"At a lag of {delay}, steps below {limit:.3f} come to rest. This step of {STEP:.3f} "
        f"{'does' if limit > STEP else 'never does'}."
    )


# ── old samples ──
SPREADS = tuple(round(0.2 * n, 1) for n in range(11))
SIDE = 8
NORMAL = NormalDist()


def weights(spread):
    """64 even quantiles of the weight exp(s z − s²/2), dealt out over a square."""
    z = np.array([NORMAL.inv_cdf((i + 0.5) / SIDE**2) for i in range(SIDE**2)])
    scattered = np.argsort(np.arange(SIDE**2) * 0.618034 % 1.0)
    return np.exp(spread * z - spread**2 / 2)[scattered].reshape(SIDE, SIDE)


def old_samples(spread):
    square = list(range(SIDE))
    ticks = dict(tickvals=[])
    return [
        panel(
            "Weights of 64 samples",
            "full tone: at least four times the mean",
            heat(square, square, np.minimum(weights(spread), 4), low=0, high=4),
            x_range=(-0.5, SIDE - 0.5),
            y_range=(-0.5, SIDE - 0.5),
            ticks=ticks,
            bare=True,
        ),
        panel(
            "How many samples are left",
            "effective share of many such samples",
            line(np.array(SPREADS), [delayed_gradient.effective_share(s) for s in SPREADS], "share", 1),
            dots([spread], [delayed_gradient.effective_share(spread)], "here", 1),
            x="spread of log-ratios, nats",
            x_range=(-0.05, 2.05),
            y_range=(0, 1.04),
        ),
    ]


def effective(spread):
    share = delayed_gradient.effective_share(spread)
    return f"At a spread of {spread:.1f} nats, a KL of {spread**2 / 2:.2f}, {100 * share:.0f} % of the batch is left."


# ── what changes ──
RATES = (1e-7, 1e-6, 1e-5)
SPREAD = 0.02  # assumed: of the weights
ROWS, ACROSS = 20, 40


@cache
def moved(rate):
    rng = np.random.default_rng(0)
    return weight_delta.changed(rng.normal(0, SPREAD, (ROWS, ACROSS)), rate, rng)


def block(rate):
    return [
        panel(
            f"{ROWS * ACROSS} weights of an engine's copy",
            "full tone: different bits after a step of Adam",
            heat(list(range(ACROSS)), list(range(ROWS)), moved(rate).astype(float), low=0, high=1),
            x_range=(-0.5, ACROSS - 0.5),
            y_range=(-0.5, ROWS - 0.5),
            bare=True,
        )
    ]


def lit(rate):
    return (
        f"{int(moved(rate).sum())} of these {ROWS * ACROSS} weights change. Of many such weights, "
        f"{100 * weight_delta.changed_share(rate, SPREAD):.2g} % do."
    )


FIGURES = {
    "opening": OPENING,
    "slots": Figure(
        slots,
        pipeline.in_slots,
        Handle("What overlaps", WAYS, start=3, words=WAYS),
        how_old,
        Time(
            "Time",
            tuple(range(0, UNTIL + 1, TICK)),
            tuple(f"{second} s" for second in range(0, UNTIL + 1, TICK)),
            start=UNTIL // TICK,
            ticks={i: str(TICK * i) for i in range(0, UNTIL // TICK + 1, 3)},
        ),
        stills=((0, UNTIL // TICK),),
    ),
    "late": Figure(
        late,
        delayed_gradient.course,
        Handle("It learns from answers", tuple(AGES), start=2, words=tuple(AGES)),
        steers,
        Time(
            "Update",
            LATE,
            tuple(f"update {update}" for update in LATE),
            start=10,
            ticks={i: str(LATE[i]) for i in range(0, len(LATE), 4)},
            strip=Strip(
                "Best answer, times in 100",
                lambda: [[float(course(lag).best[update]) for update in LATE] for lag in AGES.values()],
                lambda age, update: f"{100 * course(AGES[age]).best[update]:.0f}",
            ),
            milliseconds=700,
        ),
        stills=((1, 10),),
    ),
    "distance": Figure(
        distance,
        delayed_gradient.steering,
        Handle("Lag", DELAYS, start=3, words=tuple(map(str, DELAYS)), symbol="Δ"),
        rests,
    ),
    "weights": Figure(
        old_samples,
        delayed_gradient.effective_share,
        Handle("Spread of the log-ratios", SPREADS, start=5, words=tuple(f"{s:.1f}" for s in SPREADS)),
        effective,
    ),
    "changed": Figure(
        block, weight_delta.changed, Handle("Learning rate", RATES, start=1, words=("10⁻⁷", "10⁻⁶", "10⁻⁵")), lit
    ),
}
