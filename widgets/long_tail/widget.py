"""What a synchronous step pays for its longest answer, and which answers each way of not waiting for it keeps."""

from dataclasses import dataclass, replace
from math import isnan, log
from types import SimpleNamespace

import numpy as np

from rlpt.planning import user_inputs
from sim.cluster import memory, slot_board, straggler
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.throughput import iteration_seconds
from widgets.frame.contract.blame import Cause, blamed
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, pasted, slider
from widgets.frame.contract.readouts import At, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing import lanes, scene, slots
from widgets.frame.drawing.marks import bars, dots, label, line, panel, region, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "What a step keeps if it ends before its last answer"
COST = "integrals, and 60 sampled steps of partial rollouts"

K = 8  # completions of a prompt that are trained on
FAIR, TOLERANCE = 0.5, 0.05  # half of all completions are right, whatever the slope
NOTICED = 0.01  # off by more than this is worse
STEPS = 60  # that are drawn
WIDEST = 3.0  # spread of log length that a log may have
RULES = ["drop answers", "drop prompts", "partial rollout"]
LAUNCHED = [8, 9, 10, 12, 16, 20, 24]  # where the curves over K′ are computed
SEQUENCES = 64  # of the engine that is drawn draining
PROMPT = 512  # its prompts, tokens
SHOWN = slice(334, 935, 8)  # of the grid: z from −4 to 5
UNCAPPED = 131072
KEPT, IN_BATCH = "What is kept", "Correct answers in the batch"  # a tab, and a panel
EVERYONE = np.ones_like(straggler.Z)


@dataclass(frozen=True)
class Knobs:
    sigma: float = slider("Spread of the log length", 0.8, 0.05, 1.5, 0.05, symbol="σ")
    n: int = ladder("Answers per step", 512, [8, 64, 256, 512, 1024, 2048, 8192], symbol="n")
    launched: int = slider("Answers started per eight kept", 8, 8, 24, 1, symbol="K′")
    slope: float = slider("Slope of correctness over length", -1.0, -2.0, 2.0, 0.25)
    rule: str = choice("Rule for unfinished answers", "drop answers", RULES)
    between: float = slider("Length variance between prompts", 0.0, 0.0, 0.75, 0.05, symbol="v")
    cap: int = ladder(
        "Longest answer allowed", UNCAPPED, [2048, 4096, 8192, 16384, 20480, 32768, UNCAPPED], unit="tokens"
    )
    cut: str = choice("Score of cut-off answers", "masked", ["masked", "scored wrong"])
    median: int = slider("Median length of an answer", 1200, 200, 8000, 100, unit="tokens")
    log: str = pasted(
        "Your lengths: p50, p90, p99, longest, or a column of lengths",
        lambda text: from_a_log(text)[1:],
        user_inputs.LENGTHS_EXAMPLE,
    )


LEAD = ("launched", "rule")
KNOB_GROUPS = {
    "Lengths": ("median", "sigma", "between", "n"),
    "Which answers are correct": ("slope",),
    "A limit on length": ("cap", "cut"),
}
DARE = "Can you make the batch look better than the model is?"
PRESETS = {
    "Short math": Knobs(),
    "12 started, 8 kept": Knobs(launched=12),
    "Cap of 2,048 tokens": Knobs(cap=2048),
    "Cut off, scored wrong": Knobs(cap=2048, cut="scored wrong", slope=0.5),
    "Partial rollout": Knobs(launched=12, rule="partial rollout"),
    # 512 × 16 completions, arXiv:2503.14476; its median is assumed
    "DAPO batch": Knobs(n=8192, cap=20480, cut="scored wrong", median=4000),
}


GUESS = Guess(
    "Half of all answers are correct. The first 64 of 96 prompts to finish are kept. "
    "What share of the batch is correct?",
    ("50 %", "52 %", "61 %"),
    Knobs(launched=12, rule="drop prompts"),
    1,
    lambda k, r: (
        f"{percent(r.accuracy_trained)}. Prompts without a long answer finish first. If single answers are dropped, it "
        f"is {percent(r.accuracy[RULES[0]][LAUNCHED.index(12)])}."
    ),
)


def from_a_log(text):
    """(median, spread) of lengths that a reader brings, the short text, a sentence. The wait is about the tail, so the
    spread is that of the 99 % quantile.
    """
    law, short, _ = user_inputs.lengths(text)
    body, tail = law.sigmas
    if tail > WIDEST:
        raise ValueError(
            f"The spread is {tail:.1f}, because p99 is {law.p99 / law.p50:,.0f} medians. At most {WIDEST} is accepted."
        )
    sentence = (
        f"The median is {law.p50:,.0f} tokens, the longest {law.longest:,.0f}. The spread is {body:.2f} by the 90 % "
        f"quantile and {tail:.2f} by the 99 %, which is used. The longest answer allowed stays as you set it."
    )
    return (law.p50, max(tail, 0.05)), short, sentence


def effective(k):
    """The knobs with the reader's own lengths in the place of median and spread."""
    if not k.log:
        return k
    median, sigma = from_a_log(k.log)[0]
    return replace(k, median=median, sigma=sigma)


def run(k):
    k = effective(k)
    cap = k.cap / k.median
    cutoff = log(cap) / k.sigma
    trained = {rule: chance(k, rule, k.launched) for rule in RULES}
    accuracy = {rule: [read(k, chance(k, rule, launched), cutoff) for launched in LAUNCHED] for rule in RULES}
    waits = {"wait for all": wait(k, RULES[0], K), **{rule: wait(k, rule, k.launched) for rule in RULES}}
    tokens = {rule: straggler.tokens_trained_on(k.sigma, counted(k, trained[rule], cutoff), cap) for rule in RULES}
    tokens["wait for all"] = straggler.tokens_trained_on(k.sigma, counted(k, EVERYONE, cutoff), cap)
    tokens["partial rollout"] *= k.n // K / in_flight(k, k.launched)  # each step ends that share of those in flight
    lengths = straggler.sampled_lengths(k.n, k.median, k.sigma, k.cap, np.random.default_rng(0))
    drained = lengths[:SEQUENCES]
    context = PROMPT + (drained**2).mean() / (2 * drained.mean())  # of one in flight
    slots = memory.sequences(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], context)
    finish, running = straggler.drain(drained, PROMPT, decode, slots)
    yield SimpleNamespace(
        steps=straggler.raced_steps(K, k.n // K, k.launched, k.sigma, k.slope, STEPS, np.random.default_rng(0)),
        trained=counted(k, trained[k.rule], cutoff),
        accuracy=accuracy,
        accuracy_trained=read(k, trained[k.rule], cutoff),
        length=straggler.trained_length(k.sigma, counted(k, trained[k.rule], cutoff), cap),
        waits=waits,
        useful={name: tokens[name] / waits[name] for name in waits},
        mean=straggler.capped_mean(k.sigma, cap=cap),
        longest=straggler.kth_density(k.n, k.n),
        finish=finish,
        running=running,
        rows=rows(k),
        loads=[deal(lengths**2, 8) for deal in (straggler.dealt_loads, straggler.longest_first_loads)],
    )


def rows(k):
    """A typical step: the completions of one prompt, as many as are launched, or as many prompts of eight each."""
    prompts, many = (1, k.launched) if k.rule == "drop answers" else (k.launched, K)
    typical = slot_board.typical(prompts, many, straggler.p_right(k.slope), straggler.Z, k.between)
    lengths = np.ceil(k.median * np.exp(k.sigma * typical.z))
    return slots.finished(typical, lengths, K, k.cap, k.cut == "masked")


def chance(k, rule, launched):
    """P(trained on | z) when `launched` were started for each 8."""
    if rule == "drop answers":
        return straggler.race_in_prompts(K, launched, k.between)
    if rule == "drop prompts":
        return straggler.race_of_prompts(K, k.n // K, in_flight(k, launched), k.between)
    return EVERYONE  # in the long run: whatever was begun is finished


def in_flight(k, launched):
    return round(k.n // K * launched / K)


def counted(k, trained, cutoff):
    return trained * straggler.before(cutoff) if k.cut == "masked" else trained


def read(k, trained, cutoff):
    """Accuracy that the reward curve shows."""
    if k.cut == "masked":
        return straggler.trained_accuracy(k.slope, counted(k, trained, cutoff))
    return straggler.punished_accuracy(k.slope, trained, cutoff)


def wait(k, rule, launched):
    """Mean time of a step in medians."""
    prompts, cap = k.n // K, k.cap / k.median
    if rule == "drop answers":
        return straggler.wait_in_prompts(prompts, K, launched, k.sigma, cap, k.between)
    if in_flight(k, launched) == prompts:  # no prompt more than are waited for
        return straggler.wait_in_prompts(prompts, K, K, k.sigma, cap, k.between)
    if rule == "drop prompts":
        return straggler.wait_for_prompts(K, prompts, in_flight(k, launched), k.sigma, cap, k.between)
    few = min(prompts, 64)  # a quantile hardly moves with the number of prompts beyond that
    return (
        straggler.resumed(K, few, round(few * launched / K), k.sigma, cap, k.between, 60, np.random.default_rng(0))
        .time[20:]
        .mean()
    )


def decode(running, kv_tokens):
    return iteration_seconds(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], running, kv_tokens)


def figure(k, r):
    k = effective(k)
    tokens = np.minimum(k.median * np.exp(k.sigma * straggler.Z[SHOWN]), k.cap)
    longest = tokens[np.argmax(r.longest[SHOWN])]
    ends = k.median * r.waits[k.rule]
    names = [name.replace(" ", "<br>", 1) for name in r.waits]
    free = 0.36 if k.slope <= 0 else 0.96  # height at which labels meet no curve
    makespan, ninetieth = r.finish[-1], r.finish[int(0.9 * len(r.finish)) - 1]
    in_turn, longest_first = (loads / loads.mean() for loads in r.loads)
    ranks = [f"rank {rank}" for rank in range(1, 9)]
    return [
        one_step(k, r),
        panel(
            IN_BATCH,
            f"%, long-run mean; of all answers: {100 * FAIR:.0f}",
            *[line(LAUNCHED, [100 * a for a in r.accuracy[rule]], rule, series=s) for s, rule in enumerate(RULES, 1)],
            *[label(8, 100 * (free - 0.08 * s), rule, series=s) for s, rule in enumerate(RULES, 1)],
            dots([k.launched], [100 * r.accuracy_trained], "this setting", role="here"),
            threshold(100 * (FAIR + TOLERANCE), "breaks above 55 %", 100.0),
            threshold(100 * (FAIR - TOLERANCE), "breaks below 45 %", 0.0),
            x="answers started per eight kept, K′",
            x_range=[7.5, 24.5],
            y_range=[0, 100],
            tab=KEPT,
        ),
        panel(
            "Length of one answer, and of the longest",
            "densities over log length, scaled to their peaks",
            line(tokens, straggler.DENSITY[SHOWN] / straggler.DENSITY.max(), "one answer", series=1),
            line(tokens, r.longest[SHOWN] / r.longest.max(), f"longest of {k.n:,}", series=2),
            line([ends, ends], [0, 1], "step ends, mean", series=3),
            label(k.median, 1, "one answer", series=1, anchor="center"),
            label(longest, 1, f"longest of {k.n:,}", series=2, anchor="center"),
            label(ends, 0.03, "step ends", series=3, anchor="right"),
            x="tokens",
            x_range=[30, 131072],
            y_range=[0, 1.15],
            log="x",
            tab="What the step waits for",
        ),
        panel(
            "Slot time that the batch uses",
            "%; hatched: waits, or lost; above: iterations",
            bars(names, [100 * used for used in r.useful.values()], "used", series=1),
            bars(names, [100 - 100 * used for used in r.useful.values()], "waits, or lost", series=1, role="waste"),
            *[
                label(name, 100, f"{k.median * medians:,.0f}", anchor="center")
                for name, medians in zip(names, r.waits.values())
            ],
            y_range=[0, 112],
            ticks=dict(tickangle=0, automargin=True),
            tab="What the step waits for",
            stacked=True,
        ),
        panel(
            "Slots of one engine that still write",
            "share; 7B model, one H100, one seed",
            line([0.0, *(100 * r.finish / makespan)], [1.0, *r.running[1:], 0.0], "writing", role="step"),
            region(100 * ninetieth / makespan, 100, "last tenth of the answers"),
            label(100, 0.8, f"the step takes {makespan:,.0f} s", anchor="right"),
            x="time (% of the step)",
            x_range=[0, 100],
            y_range=[0, 1.05],
            tab="Engine and trainer",
        ),
        panel(
            "Attention work of 8 trainer ranks",
            "sum of squared lengths, mean of ranks 1; one seed",
            bars(ranks, in_turn, "dealt in turn", series=1),
            bars(ranks, longest_first, "longest first", series=2),
            label(0, 3.6, "dealt in turn", series=1),
            label(0, 3.3, "longest first", series=2),
            y_range=[0, 4],
            tab="Engine and trainer",
        ),
    ]


def one_step(k, r):
    """Which answers are in the batch when the step ends, and which are not."""
    by_prompt = k.rule != "drop answers"
    row = "each row: a prompt with eight answers" if by_prompt else f"one prompt of {k.n // K:,}; [right] correct"
    resumed = k.rule == "partial rollout"
    rest = "[other] continues in the next step" if resumed else "dashed: lost"
    beyond = 1.3 if any(row.cut for row in r.rows) else 1.02  # room for what is said of those cut off
    longest = max(row.done for row in r.rows)
    return scene.scene(
        f"Which {'prompts' if by_prompt else 'answers'} the step keeps",
        f"{row}; hatched: waits; {rest}",
        slots.raced(
            "s",
            r.rows,
            lanes.round_up(beyond * longest),
            "these prompts" if by_prompt else "this prompt",
            masked=k.cut == "masked",
            resumed=resumed,
            many=LAUNCHED[-1],
        ),
        tab=KEPT,
        front=True,
        data=[bars(list(range(1, len(r.rows) + 1)), [row.done for row in r.rows], "tokens")],
    )


def readouts(k, r):
    k = effective(k)
    return [
        Readout(
            IN_BATCH,
            100 * r.accuracy_trained,
            "%",
            source=straggler.trained_accuracy,
            state="violated" if broken(k, r) else "",
        ),
        Readout("Length of the whole step", k.median * r.waits[k.rule], "iterations", source=SOURCE[k.rule]),
        Readout("Slot time that the batch uses", 100 * r.useful[k.rule], "%", source=straggler.tokens_trained_on),
        Readout("Mean length in the batch", k.median * r.length, "tokens", source=straggler.trained_length),
        Readout(
            "Tax if the step waits for all", r.waits["wait for all"] / r.mean, "×", source=straggler.wait_in_prompts
        ),
    ]


SOURCE = dict(zip(RULES, (straggler.wait_in_prompts, straggler.wait_for_prompts, straggler.resumed)))


def off(accuracy):
    return round(abs(accuracy - FAIR), 8)  # the integrals' last digits are not news


def bias(r):
    return off(r.accuracy_trained)


def watched(k, r):
    if isnan(r.accuracy_trained):
        return Readout("Answers in the batch", 0, "", straggler.trained_accuracy)
    return Gauge(
        "Error of the batch's accuracy",
        bias(r),
        TOLERANCE,
        expression=f"abs(accuracy_trained - accuracy_all) > {TOLERANCE}",
    )


def percent(accuracy):
    return f"{100 * accuracy:.0f} %"


def seen_at(k, r, cause):
    if isnan(r.accuracy_trained):
        return At(IN_BATCH, effective(k).launched, 0, "no answer is left")
    return At(IN_BATCH, None, None, f"{{y:.0f}} %, all answers {100 * FAIR:.0f} %", "this setting")


RACE, CAP = dict(rule="partial rollout"), dict(cap=UNCAPPED)  # what undoes each


def broken(k, r):
    k = effective(k)
    if bias(r) <= TOLERANCE:
        return None
    if isnan(r.accuracy_trained):
        empty = "No answer is left to train on, because all are longer than allowed, and cut-off answers are masked."
        facts = {"all is cut off": lambda: cut_off(k) > 1 - 1e-6, "and masked": lambda: k.cut == "masked"}
        causes = [Cause("an empty batch", undo, empty, facts) for undo in (CAP, RACE | CAP)]
        return blamed(k, damage, TOLERANCE, causes, causes[0])
    first, late, together = first_are_short(k, r), late_is_lost(k, r), cap_and_race(k, r)
    raced = off(accuracy_at(replace(k, **RACE))) != bias(r)
    return blamed(k, damage, TOLERANCE, [first, late, together], together if raced else late)


def first_are_short(k, r):
    racers = (
        f"{K} of {k.launched} answers to finish are short"
        if k.rule == "drop answers"
        else f"{k.n // K:,} of {in_flight(k, k.launched):,} prompts to finish have short answers"
    )
    return Cause(
        "a race that short answers win",
        RACE,
        f"{in_batch(r)}, not {percent(accuracy_at(replace(k, **RACE)))}, because the first {racers}, and these are "
        f"{'correct' if k.slope < 0 else 'wrong'} more often.",
        racing(k, r) | {"so correct are short ones": lambda: (straggler.p_right(k.slope)[0] > FAIR) == (k.slope < 0)},
    )


def late_is_lost(k, r):
    return Cause(
        "unfinished answers scored as wrong" if k.cut == "scored wrong" else "a cap that drops long answers",
        CAP,
        f"{in_batch(r)}, not {percent(accuracy_at(replace(k, **CAP)))}, because a cap cuts off {percent_cut(k):.0f} % "
        f"of the answers, and these are {k.cut}.",
        so_many(k),
    )


def cap_and_race(k, r):
    raceless, uncapped = (percent(accuracy_at(replace(k, **undone))) for undone in (RACE, CAP))
    return Cause(
        "a cap and a race together",
        RACE | CAP,
        f"{in_batch(r)}, because a cap cuts off {percent_cut(k):.0f} % and a race favors short answers. It "
        f"would be {raceless} without the race, {uncapped} without the cap.",
        so_many(k) | racing(k, r),
    )


def in_batch(r):
    return f"{percent(r.accuracy_trained)} of the batch is correct"


def percent_cut(k):
    return 100 * straggler.truncated_share(k.sigma, 0.0, k.cap / k.median)


def so_many(k):
    return {"so many are cut off": lambda: abs(100 * cut_off(k) - percent_cut(k)) < 0.5}


def racing(k, r):
    return {"some are raced": lambda: k.launched > K and k.rule != RULES[2], "they are short": lambda: shorter(k, r)}


def damage(k):
    return off(accuracy_at(k))


def accuracy_at(k):
    """What the batch reads at other knobs."""
    return read(k, chance(k, k.rule, k.launched), log(k.cap / k.median) / k.sigma)


def cut_off(k):
    """Share of the completions beyond the cap, of a hundred thousand quantiles."""
    n = 100_000
    z = np.interp((np.arange(n) + 0.5) / n, straggler.SHORTER, straggler.Z)
    return float((k.median * np.exp(k.sigma * z) > k.cap).mean())


def shorter(k, r):
    """Whether those that win the race are shorter than all completions are, on average."""
    trained = chance(k, k.rule, k.launched)
    return straggler.trained_length(k.sigma, trained) < straggler.trained_length(k.sigma, EVERYONE)


def worse(k, r):
    if bias(r) > NOTICED:
        return Said(
            f"{100 * r.accuracy_trained:.1f} % of the batch is correct, but {100 * FAIR:.1f} % of all answers are.",
            {
                "so much is correct": lambda: abs(accuracy_at(effective(k)) - r.accuracy_trained) < 1e-9,
                "of all one half is": lambda: abs(straggler.trained_accuracy(k.slope, EVERYONE) - FAIR) < 1e-6,
            },
        )
    if r.waits[k.rule] > 1.05 * r.waits["wait for all"]:
        return Said(
            f"The step takes {r.waits[k.rule] / r.waits['wait for all']:.2f} times as long as with a wait for all.",
            {"waiting for all is shorter": lambda: wait(effective(k), RULES[0], K) < r.waits[k.rule] / 1.05},
        )
    return None


def holds(k, r):
    k = effective(k)
    lasts = k.median * r.waits[k.rule]
    return Said(
        f"{in_batch(r)} (all answers: {percent(FAIR)}). A step takes {lasts:,.0f} iterations.",
        {
            "so much is correct": lambda: abs(accuracy_at(k) - r.accuracy_trained) < 1e-9,
            "it is as many as of all": lambda: (
                abs(accuracy_at(k) - straggler.trained_accuracy(k.slope, EVERYONE)) < NOTICED + 1e-6
            ),
            "no longer than all, or hardly": lambda: r.waits[k.rule] <= 1.05 * wait(k, RULES[0], K) + 1e-9,
        },
    )


OPENING = Played(Knobs(), Knobs(launched=12), "opening")
