"""The small figures of lesson 22b: the end of a step, dragged through its answers, slots that write and wait, the
longest of n, an engine that empties, and what is left in the batch under four rules.
"""

from functools import cache, partial

import numpy as np

from sim.cluster import slot_board, straggler
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.throughput import iteration_seconds
from sim.words import plural
from widgets.frame.drawing import lanes, scene, slots
from widgets.frame.drawing.marks import dots, label, line, panel, region
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

SIGMA, MEDIAN, SLOPE, TOLERANCE = 0.8, 1200, -1.0, 0.05
MOMENTS = tuple(range(1, 25))  # of 24, up to the end of the step
MOST = tuple(range(25))

# ── thirty-two answers, and the end of the step, which is dragged through them ──
MANY, MANY_UNTIL = 32, 7500  # answers; tokens of the axis
ENDS = tuple(range(600, 7200, 300))
TALL, GAP, HEAD = 11.0, 2.5, 44.0  # pixels of a row, between rows, above them
INSIDE, BESIDE = 450, 500  # tokens: the least bar and the least hatch that a word fits into


@cache
def answers():
    """Lengths, and which are correct, of all answers to a prompt."""
    typical = slot_board.typical(1, MANY, straggler.p_right(SLOPE), straggler.Z)
    return np.ceil(MEDIAN * np.exp(SIGMA * typical.z))[0].astype(np.int64), typical.right[0]


def dragged(end):
    lengths, right = answers()
    found = slot_board.ended(lengths, right, end)
    marks = []
    for row, (length, correct, kept) in enumerate(zip(lengths.tolist(), right, found.kept)):
        role = "right" if correct else "wrong"
        marks += [
            lanes.tip(f"t{row}", row, length, role, not kept),
            lanes.span(f"w{row}", row, length, end if kept else length, "waits"),
            lanes.span(f"a{row}", row, 0, length if kept else 0, role),
        ]
    marks.append(lanes.grip("g", end, f"the step ends after {end:,} tokens", f"ends at {end:,} tokens", ~found.kept))
    marks += named(lengths, right, found.kept, end)
    places = dict(tall=TALL, gap=GAP, top=HEAD, ticks=range(0, MANY_UNTIL, 2000), unit=" tokens")
    board = lanes.board("b", said(end), MANY_UNTIL, [("", "")] * MANY, *marks, **places)
    return [scene.scene("Thirty-two answers to one prompt, and the end of the step", "", [board, numbers(found)])]


def named(lengths, right, kept, end):
    """Each kind of mark is named once, at the longest that it has; spaces keep the word off the mark."""

    def at(key, rows, words, role="", anchor="start"):
        row = max(rows, key=lambda i: lengths[i], default=None)
        if row is None:
            return lanes.note(key, 0, 2 * MANY_UNTIL, "", role, anchor)
        return lanes.note(key, row, int(lengths[row]), words, role, anchor)

    def those(among, correct):
        return [i for i in range(MANY) if among[i] and right[i] == correct]

    shortest, long = int(lengths.argmin()), kept & (lengths > INSIDE)
    waits = [shortest] if kept[shortest] and end - lengths[shortest] > BESIDE else []
    return [
        at("nr", those(long, True), "correct\u2002", "inside right", "end"),
        at("nw", those(long, False), "wrong\u2002", "inside", "end"),
        at("nh", waits, "\u2002waits"),
        at("lr", those(~kept, True), "\u2003lost: correct", "broken"),
        at("lw", those(~kept, False), "lost: wrong\u2003", "broken", "end"),
    ]


def numbers(found):
    kept = int(found.kept.sum())
    biased = abs(found.right / kept - straggler.trained_accuracy(SLOPE, np.ones_like(straggler.Z))) > TOLERANCE
    lost = (f"{found.lost_wrong} of {found.lost}", "lost answers would have been wrong", "")
    return scene.counts(
        "c",
        (f"{found.right} of {kept}", f"kept answers are correct. Of all {MANY}, half are.", "broken" if biased else ""),
        lost if found.lost else ("0", "answers are lost", ""),
        (f"{100 * found.waits:.0f} %", "of the engine's time is spent waiting", ""),
    )


def said(end):
    found = slot_board.ended(*answers(), end)
    kept = int(found.kept.sum())
    return (
        f"The step ends after {end:,} tokens. Half of all {MANY} answers are correct. Of the {kept} kept, "
        f"{found.right} {plural(found.right, 'is', 'are')}."
    )


OPENING = Figure(
    dragged,
    slot_board.ended,
    sentence=said,
    time=Time(
        "Tokens after which the step ends",
        ENDS,
        tuple(f"{end:,} tokens" for end in ENDS),
        start=ENDS.index(1500),
        over=(ENDS[0] / MANY_UNTIL, ENDS[-1] / MANY_UNTIL),
    ),
    stills=((0, len(ENDS) - 1),),
)


# ── four completions in four slots ──
FOUR = (400, 700, 1100, 5800)
FOUR_UNTIL = 6000


def waiting(tokens):
    board = slot_board.steps(FOUR, 4, 4, FOUR_UNTIL)
    marks = slots.table("f", board, 4, (4, 3, 1), FOUR_UNTIL)
    seen = tokens > FOUR[2]
    marks.append(lanes.spot("r", (0, 2), FOUR[2], FOUR[3], "three slots wait for one" if seen else "", seen, "look"))
    return [
        scene.scene(
            "Four answers, each in a slot of the engine",
            "a segment is 250 tokens; hatched: a slot that waits",
            lanes.board(
                "f",
                f"After {tokens:,} iterations, {done_of_four(tokens)}.",
                FOUR_UNTIL,
                [(f"slot {n + 1}", f"{length:,} tokens") for n, length in enumerate(FOUR)],
                *marks,
                tall=30,
                gap=12,
                top=62,
                ticks=(0, 2000, 4000, 6000),
                now=tokens,
            ),
        )
    ]


def held_a_token(tokens):
    if tokens == 0:
        return "All four answers start at once, and each slot writes one token per iteration."
    board = slot_board.steps(FOUR, 4, 4, FOUR_UNTIL)
    end = min(tokens, board.ends[0])
    busy = 100 * slot_board.busy(board, 4, end)
    return f"After {end:,} iterations, {done_of_four(end)}, and the slots were writing {busy:.0f} % of the time."


def done_of_four(tokens):
    done = sum(length <= tokens for length in FOUR)
    return f"{done} of 4 answers {plural(done, 'is', 'are')} finished"


# ── sixteen slots, steps of thirty-two ──
UNTIL, SLOTS, STEP, CAP = 8400, 16, 32, 3000
RULES_OF_A_STEP = ("synchronous", "cap of 3,000", "32 slots", "partial rollout")


@cache
def sampled():
    lengths = straggler.sampled_lengths(192, MEDIAN, SIGMA, 10**6, np.random.default_rng(1))
    return tuple(int(length) for length in lengths)


@cache
def engine(rule):
    if rule == "partial rollout":
        return slot_board.carried_over(sampled(), SLOTS, STEP, UNTIL)
    cap = CAP if rule == "cap of 3,000" else None
    return slot_board.steps(sampled(), places(rule), STEP, UNTIL, cap)


def places(rule):
    return 2 * SLOTS if rule == "32 slots" else SLOTS


def sixteen(rule, moment):
    board, tokens = engine(rule), UNTIL * moment // 24
    boards = [engine(each) for each in RULES_OF_A_STEP]
    most = tuple(max(len(getattr(b, kind)) for b in boards) for kind in ("written", "waits", "ends"))
    marks = slots.table("s", board, places(rule), most, UNTIL)
    marks.append(pointed_at(rule, board, tokens))
    return [
        scene.scene(
            "Slots of an engine, and steps of 32 answers",
            "[written] first step, [other] next step; round ends: an answer ends; hatched: a slot waits",
            lanes.board(
                "s",
                f"After {tokens:,} iterations, {ended(board, tokens)}.",
                UNTIL,
                [("", "")] * places(rule),
                *marks,
                **slots.pitch(places(rule)),
                top=62,
                ticks=(0, 2000, 4000, 6000, 8000),
                now=tokens,
            ),
        )
    ]


def pointed_at(rule, board, tokens):
    """What the first step costs, where it can be seen."""
    end, many = board.ends[0], places(rule)
    seen = tokens >= end
    if rule == "partial rollout":
        words = f"{slot_board.carried(board)} go on, with new weights"
        return lanes.spot("r", (0, many - 1), end - 60, end + 60, words if seen else "", seen, "look")
    if rule == "cap of 3,000":
        cut = [done for done in board.written if done.cut and done.step == 0]
        last = max(cut, key=lambda done: done.end)
        words, row = f"{len(cut)} cut off, no result", (last.slot, last.slot)
        return lanes.spot("r", row, last.end - 300, last.end + 60, words if seen else "", seen, "look")
    *_, before, _ = sorted(done.end for done in board.written if done.step == 0)
    words = f"{many - 1} slots wait for one"
    return lanes.spot("r", (0, many - 1), before, end, words if seen else "", seen, "look", "inside")


def writing(rule, moment):
    tokens = UNTIL * moment // 24
    return sum(done.start < tokens <= done.end for done in engine(rule).written)


def ended(board, tokens):
    done = sum(end <= tokens for end in board.ends)
    return "no step has ended" if not done else "one step has ended" if done == 1 else f"{done} steps have ended"


def because(rule, moment):
    board, tokens = engine(rule), UNTIL * moment // 24
    if not tokens:
        return "An answer starts in every slot. When it ends, the slot takes the next answer of the step."
    busy = 100 * slot_board.busy(board, places(rule), tokens)
    so_far = (
        f"After {tokens:,} iterations, {ended(board, tokens)}, and the slots were writing {busy:.0f} % of the time."
    )
    end = board.ends[0]
    if tokens < end:
        return so_far
    cut = sum(done.cut and done.step == 0 for done in board.written)
    why = {
        "synchronous": f"The first step took {end:,}, because its longest answer started late.",
        "cap of 3,000": f"The first step took {end:,}, and {cut} of its 32 answers are cut off.",
        "partial rollout": f"The first step took {end:,}, and unfinished answers go on.",
        "32 slots": f"The first step took {end:,}, the length of its longest answer.",
    }
    return f"{so_far} {why[rule]}"


# ── the longest of n ──
COUNTS = (1, 8, 64, 256, 512, 1024, 2048, 8192)
SPREADS = (0.4, 0.8, 1.0)


@cache
def tax(n, sigma):
    return straggler.straggler_tax(n, sigma)


def longest(n):
    marks = []
    for series, sigma in enumerate(SPREADS, 1):
        marks += [
            line(COUNTS, [tax(m, sigma) for m in COUNTS], f"σ {sigma}", series),
            dots([n], [tax(n, sigma)], "here", series),
            label(5800, tax(5800, sigma) + 0.5, f"σ {sigma}", series, "right"),
        ]
    return [
        panel(
            "Straggler tax of a synchronous step",
            "longest over mean length; closed form",
            *marks,
            x="answers per step",
            x_range=(0.8, 10000),
            y_range=(0, 32),
            log="x",
        )
    ]


def says(n):
    return (
        f"The longest of {n:,} {plural(n, 'answer', 'answers')} is {tax(n, 0.8):.2f} times the mean length if σ is "
        f"0.8, and {tax(n, 1.0):.2f} times if σ is 1.0."
    )


# ── an engine that empties ──
@cache
def drained():
    lengths = straggler.sampled_lengths(64, MEDIAN, SIGMA, 8192, np.random.default_rng(0))
    return straggler.drain(lengths, 512, partial(iteration_seconds, MODELS["qwen2.5-7b"], ACCELERATORS["h100"]))


def still_running(share):
    """Sequences that still run after this share of the time."""
    finish, _ = drained()
    return int((finish > share * finish[-1] + 1e-9).sum())


def emptying(moment):
    finish, _ = drained()
    n, now = len(finish), moment / len(MOMENTS)
    steps = [0.0, *(100 * finish / finish[-1])]
    return [
        panel(
            "Answers of one engine that are still being written",
            f"of {n}; a 7B model, one H100",
            line(steps, [*range(n, -1, -1)], "running", 1, "step"),
            region(0, 100 * now, ""),
            dots([100 * now], [still_running(now)], "now", role="here"),
            x="time (% of the step)",
            x_range=(0, 100),
            y_range=(0, 1.1 * n),
        )
    ]


def running(moment):
    finish, _ = drained()
    share = moment / len(MOMENTS)
    end, still = finish[-1], still_running(share)
    be = plural(still, "is", "are")
    return f"After {share * end:.0f} of {end:.0f} seconds, {still} of {len(finish)} answers {be} still being written."


# ── four rules ──
RULES = ("synchronous", "drop answers", "drop prompts", "partial rollout")
PROMPTS, LAUNCHED = 64, 12
SHOWN = slice(334, 935, 8)  # of the grid: z from −4 to 5


def chance(rule):
    """P(trained on | z)."""
    races = {
        "drop answers": lambda: straggler.race_in_prompts(8, LAUNCHED),
        "drop prompts": lambda: straggler.race_of_prompts(8, PROMPTS, PROMPTS * LAUNCHED // 8),
    }
    return races[rule]() if rule in races else np.ones_like(straggler.Z)


def four(rule):
    lengths = MEDIAN * np.exp(SIGMA * straggler.Z[SHOWN])
    right = straggler.p_right(-1.0)[SHOWN]
    return [
        panel(
            "Probability of being kept, and of being correct",
            "12 started per 8 kept; dotted: other rules",
            *(line(lengths, chance(other)[SHOWN], other, 8, "other") for other in RULES[1:3] if other != rule),
            line(lengths, right, "correct", 2),
            line(lengths, chance(rule)[SHOWN], "kept", 1),
            label(60, 0.86, "correct", 2),
            label(60, 1.01, "kept", 1),
            x="length of an answer (tokens)",
            x_range=(50, 30000),
            y_range=(0, 1.12),
            log="x",
        )
    ]


def reads(rule):
    accuracy = straggler.trained_accuracy(-1.0, chance(rule))
    waits = {
        RULES[0]: lambda: straggler.wait_in_prompts(PROMPTS, 8, 8, SIGMA),
        RULES[1]: lambda: straggler.wait_in_prompts(PROMPTS, 8, 12, SIGMA),
        RULES[2]: lambda: straggler.wait_for_prompts(8, PROMPTS, 96, SIGMA),
        RULES[3]: lambda: (
            straggler.resumed(8, PROMPTS, 96, SIGMA, np.inf, 0.0, 60, np.random.default_rng(0)).time[20:].mean()
        ),
    }
    batch = f"{100 * accuracy:.0f} % of the batch is correct (all answers: 50 %)"
    return f"{batch}, and a step takes {waits[rule]():.1f} median lengths."


FIGURES = {
    "opening": OPENING,
    "four": Figure(
        waiting,
        slot_board.steps,
        sentence=held_a_token,
        time=Time(
            "Iterations",
            tuple(range(0, FOUR_UNTIL + 1, 250)),
            tuple(f"{tokens:,} iterations" for tokens in range(0, FOUR_UNTIL + 1, 250)),
            start=24,
            ticks={i: f"{250 * i:,}" for i in range(0, 25, 4)},
            milliseconds=300,
        ),
        stills=((0, 4),),
    ),
    "slots": Figure(
        sixteen,
        slot_board.steps,
        Handle("The step", RULES_OF_A_STEP, start=0, words=RULES_OF_A_STEP),
        because,
        Time(
            "Iterations so far",
            MOMENTS,
            tuple(f"{UNTIL * moment // 24:,} iterations" for moment in MOMENTS),
            start=23,
            ticks={i: f"{UNTIL * MOMENTS[i] // 24:,}" for i in range(3, 24, 4)},
            strip=Strip(
                "Slots that write, of 16 or 32",
                lambda: [[writing(rule, moment) / 32 for moment in MOMENTS] for rule in RULES_OF_A_STEP],
                lambda rule, moment: f"{writing(rule, moment)}",
            ),
            milliseconds=350,
        ),
        stills=((1, 23), (3, 23)),
    ),
    "longest": Figure(longest, straggler.straggler_tax, Handle("Answers per step", COUNTS, 4, symbol="n"), says),
    "emptying": Figure(
        emptying, straggler.drain, Handle("Time", MOMENTS, 11, tuple(f"{m} of 24" for m in MOMENTS)), running
    ),
    "rules": Figure(four, straggler.trained_accuracy, Handle("Rule for unfinished answers", RULES, 1), reads),
}
