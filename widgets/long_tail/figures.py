"""The small figures of lesson 22b: a step that does not wait, slots that write and wait, the longest of n, an engine
that empties, and who is left in the batch under four rules.
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

SIGMA, MEDIAN, SLOPE = 0.8, 1200, -1.0
MOMENTS = tuple(range(1, 25))  # of 24, up to the end of the step
MOST = tuple(range(25))

# ── a step that does not wait, and its batch ──
WAYS = ("8 started", "12 started")
LAUNCHED_OF = dict(zip(WAYS, (8, 12)))
RACE_UNTIL, TICK = 5000, 250  # tokens
TICKS = tuple(range(0, RACE_UNTIL + 1, TICK))


@cache
def answers(way):
    """The completions of one prompt, in the order in which they are done."""
    typical = slot_board.typical(1, LAUNCHED_OF[way], straggler.p_right(SLOPE), straggler.Z)
    return slots.finished(typical, np.ceil(MEDIAN * np.exp(SIGMA * typical.z)), 8, np.inf, False)


def one_prompt(way, tokens):
    return [
        scene.scene(
            "One prompt's answers, and the eight that are trained on",
            "[right] right, outlined: wrong; hatched: waits; dashed: thrown away",
            slots.raced("p", answers(way), RACE_UNTIL, many=12, now=tokens, alt=batch(way, tokens)),
        )
    ]


def batch(way, tokens):
    rows = answers(way)
    many, right, end = slots.batch_of(rows)
    if tokens < end:
        done = sum(row.done <= tokens for row in rows)
        return f"After {tokens:,} tokens {done} of {len(rows)} {plural(done, 'is', 'are')} done."
    read = f"The step took {end:,.0f} tokens, and {right} of its {many} answers are right"
    if len(rows) == many:
        return f"{read}: nobody was left out."
    return f"{read}; of all {len(rows)} that were begun, {sum(not row.wrong for row in rows)} are."


def done_by(way):
    return [sum(row.kept and row.done <= tokens for row in answers(way)) / 8 for tokens in TICKS]


OPENING = Figure(
    one_prompt,
    slot_board.typical,
    Handle("Run", WAYS, start=1),
    batch,
    Time(
        "Tokens",
        TICKS,
        tuple(f"{tokens:,} tokens" for tokens in TICKS),
        start=len(TICKS) - 1,
        ticks={i: f"{TICK * i:,}" for i in range(0, len(TICKS), 4)},
        strip=Strip(
            "Done, of the eight",
            lambda: [done_by(way) for way in WAYS],
            lambda way, tokens: f"{8 * done_by(way)[tokens // TICK]:.0f}",
        ),
        milliseconds=300,
        holds={7: 1500},
    ),
    stills=((0, len(TICKS) - 1),),
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
            "Four completions, each in a slot of the engine",
            "a segment is 250 tokens; hatched: a slot that is paid for and waits",
            lanes.board(
                "f",
                f"After {tokens:,} tokens {done_of_four(tokens)}.",
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
        return "All four begin at once and write a token each in every iteration."
    board = slot_board.steps(FOUR, 4, 4, FOUR_UNTIL)
    end = min(tokens, board.ends[0])
    busy = 100 * slot_board.busy(board, 4, end)
    return f"After {end:,} tokens {done_of_four(end)}; {busy:.0f} of 100 places for a token held one."


def done_of_four(tokens):
    done = sum(length <= tokens for length in FOUR)
    return f"{done} of 4 {plural(done, 'is', 'are')} done"


# ── sixteen slots, steps of thirty-two ──
UNTIL, SLOTS, STEP, CAP = 8400, 16, 32, 3000
RULES_OF_A_STEP = ("waits for all", "caps at 3,000", "carries over", "has 32 slots")


@cache
def sampled():
    lengths = straggler.sampled_lengths(192, MEDIAN, SIGMA, 10**6, np.random.default_rng(1))
    return tuple(int(length) for length in lengths)


@cache
def engine(rule):
    if rule == "carries over":
        return slot_board.carried_over(sampled(), SLOTS, STEP, UNTIL)
    cap = CAP if rule == "caps at 3,000" else None
    return slot_board.steps(sampled(), places(rule), STEP, UNTIL, cap)


def places(rule):
    return 2 * SLOTS if rule == "has 32 slots" else SLOTS


def sixteen(rule, moment):
    board, tokens = engine(rule), UNTIL * moment // 24
    boards = [engine(each) for each in RULES_OF_A_STEP]
    most = tuple(max(len(getattr(b, kind)) for b in boards) for kind in ("written", "waits", "ends"))
    marks = slots.table("s", board, places(rule), most, UNTIL)
    marks.append(pointed_at(rule, board, tokens))
    return [
        scene.scene(
            "Sixteen slots, and steps of 32 completions",
            "[written] the first step, [other] the next; round ends: one completion ends; hatched: a slot waits",
            lanes.board(
                "s",
                f"After {tokens:,} tokens {ended(board, tokens)}.",
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
    if rule == "carries over":
        words = f"{slot_board.carried(board)} go on, with newer weights"
        return lanes.spot("r", (0, many - 1), end - 60, end + 60, words if seen else "", seen, "look")
    if rule == "caps at 3,000":
        cut = [done for done in board.written if done.cut and done.step == 0]
        last = max(cut, key=lambda done: done.end)
        words, row = f"{len(cut)} cut off, no answer", (last.slot, last.slot)
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
        return "Sixteen completions begin; sixteen more of the step take the slots that are freed."
    busy = 100 * slot_board.busy(board, places(rule), tokens)
    so_far = f"After {tokens:,} tokens {ended(board, tokens)}; {busy:.0f} of 100 places held a token."
    end = board.ends[0]
    if tokens < end:
        return so_far
    cut = sum(done.cut and done.step == 0 for done in board.written)
    why = {
        "waits for all": f"The first took {end:,}: its longest completion began late.",
        "caps at 3,000": f"The first took {end:,}; {cut} of its 32 have no answer.",
        "carries over": f"The first took {end:,}; what is not done goes on.",
        "has 32 slots": f"The first took {end:,}, the length of its longest.",
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
            "Straggler tax",
            "longest over mean; closed form",
            *marks,
            x="completions a step",
            x_range=(0.8, 10000),
            y_range=(0, 32),
            log="x",
        )
    ]


def says(n):
    return (
        f"The longest of {n:,} is {tax(n, 0.8):.1f} times the mean at a spread of 0.8, {tax(n, 1.0):.1f} times at 1.0."
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
            "One engine draining",
            f"of {n} sequences; a 7B model, one H100",
            line(steps, [*range(n, -1, -1)], "running", 1, "step"),
            region(0, 100 * now, ""),
            dots([100 * now], [still_running(now)], "now", role="here"),
            x="% of the time that the step takes",
            x_range=(0, 100),
            y_range=(0, 1.1 * n),
        )
    ]


def running(moment):
    finish, _ = drained()
    share = moment / len(MOMENTS)
    end, still = finish[-1], still_running(share)
    return f"After {share * end:.0f} of {end:.0f} seconds {still} of {len(finish)} still write."


# ── four rules ──
RULES = ("wait for all", "drop completions", "drop prompts", "resume prompts")
NAMES = ("wait", "completions", "prompts", "resume")
PROMPTS, LAUNCHED = 64, 12
SHOWN = slice(334, 935, 8)  # of the grid: z from −4 to 5


def chance(rule):
    """P(trained on | z)."""
    races = {
        "drop completions": lambda: straggler.race_in_prompts(8, LAUNCHED),
        "drop prompts": lambda: straggler.race_of_prompts(8, PROMPTS, PROMPTS * LAUNCHED // 8),
    }
    return races[rule]() if rule in races else np.ones_like(straggler.Z)


def four(rule):
    lengths = MEDIAN * np.exp(SIGMA * straggler.Z[SHOWN])
    right = straggler.p_right(-1.0)[SHOWN]
    return [
        panel(
            "Who is trained on, who is right",
            "chances; 12 for 8; dotted: another rule",
            *(line(lengths, chance(other)[SHOWN], other, 8, "other") for other in RULES[1:3] if other != rule),
            line(lengths, right, "right", 2),
            line(lengths, chance(rule)[SHOWN], "trained on", 1),
            label(60, 0.86, "right", 2),
            label(60, 1.01, "trained on", 1),
            x="completion length (tokens)",
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
    return f"The batch reads {accuracy:.2f}, all completions 0.50; a step takes {waits[rule]():.1f} medians."


FIGURES = {
    "opening": OPENING,
    "four": Figure(
        waiting,
        slot_board.steps,
        sentence=held_a_token,
        time=Time(
            "Tokens",
            tuple(range(0, FOUR_UNTIL + 1, 250)),
            tuple(f"{tokens:,} tokens" for tokens in range(0, FOUR_UNTIL + 1, 250)),
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
            "Tokens so far",
            MOMENTS,
            tuple(f"{UNTIL * moment // 24:,} tokens" for moment in MOMENTS),
            start=23,
            ticks={i: f"{UNTIL * MOMENTS[i] // 24:,}" for i in range(3, 24, 4)},
            strip=Strip(
                "Slots that write",
                lambda: [[writing(rule, moment) / 32 for moment in MOMENTS] for rule in RULES_OF_A_STEP],
                lambda rule, moment: f"{writing(rule, moment)}",
            ),
            milliseconds=350,
        ),
        stills=((1, 23), (2, 23)),
    ),
    "longest": Figure(longest, straggler.straggler_tax, Handle("Completions a step", COUNTS, 4, symbol="n"), says),
    "emptying": Figure(
        emptying, straggler.drain, Handle("Time", MOMENTS, 11, tuple(f"{m} of 24" for m in MOMENTS)), running
    ),
    "rules": Figure(four, straggler.trained_accuracy, Handle("When enough have finished", RULES, 1, NAMES), reads),
}
