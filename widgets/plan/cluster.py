"""The cluster of a plan as a scene: what the memory of each GPU holds, and the lanes of a step below."""

from collections.abc import Sequence

from rlpt.planning import planner
from rlpt.planning.planner import Plan, Scenario
from sim.cluster import envelope, memory, step
from sim.cluster.memory import Misfit
from sim.words import duration
from widgets.frame.contract import impossible_job
from widgets.frame.drawing import fleet, lanes, scene
from widgets.frame.drawing.fleet import Pool
from widgets.frame.drawing.marks import Panel, bars
from widgets.frame.drawing.scene import Mark, View

Side = tuple[tuple[tuple[str, float], ...], tuple[tuple[str, str], ...], bool]  # parts, words and over of a Pool
TITLE = "The cluster, and one step of it"
PLAIN = ("layout", "input", "updates")  # misfits of which no memory can be drawn
ENGINE, STATE = ("weights", "sequence"), ("state", "reference", "critic")
LANES = dict(rollout="generates", verify="other", log_probs="passes", train="trains", sync="cache", switch="cache")
NAMES = dict(rollout="generate", verify="tests", log_probs="log-probs", train="train", sync="weights", switch="switch")
WAITED = "set the pace"
LETTER = 0.024  # of the board on a phone: a span that is narrower than its name has none
SEEN = 0.01  # share of a trainer's memory from which on it is named
EMPTY = 0.5  # share of a trainer's memory from which on it is called empty


def picture(s: Scenario, plan: Plan | None, misfits: Sequence[Misfit]) -> Panel:
    """The scene of a scenario, of its plan where nothing is impossible."""
    drawn_pools = pools(s, misfits)
    gpus_a_cell = fleet.per_cell(drawn_pools)
    cell = "a GPU" if gpus_a_cell == 1 else f"{gpus_a_cell} GPUs"
    needs = [sum(share for _, share in pool.parts) for pool in drawn_pools]
    return scene.scene(
        TITLE,
        f"each cell is {cell}, as full as its memory",
        [cluster(drawn_pools, misfits), *([step_lanes(s, plan)] if plan else [])],
        front=True,
        data=[bars([pool.name for pool in drawn_pools], [100 * share for share in needs], "% of what a GPU may fill")],
    )


# ── memory ──


def pools(s: Scenario, misfits: Sequence[Misfit]) -> list[Pool]:
    """The GPUs that generate and those that train, which in one pool are the same at another time."""
    generating, training = envelope.pools(s.job)
    drawable = not misfits_of(misfits, PLAIN)
    if s.placement == "two pools":
        first = "1 GPU generates" if generating == 1 else f"{generating:,} generate"
        second = "1 GPU trains" if training == 1 else f"{training:,} train"
    elif s.gpus > 1:
        first, second = f"all {s.gpus:,} generate", f"then all {s.gpus:,} train"
    else:
        first, second = "it generates", "then it trains"
    return [
        Pool(first, generating, *(engine(s, misfits) if drawable else ((), ()))),
        Pool(second, training, *(trainer(s, misfits) if drawable else ((), ()))),
    ]


def engine(s: Scenario, misfits: Sequence[Misfit]) -> Side:
    """What an engine's GPU holds, of what the engine may fill: its weights, the cache of what is in flight, and what is
    left of it; where it does not fit, the cache of one longest sequence.
    """
    sized = envelope.sized(s.held, s.accelerator, s.engine)
    fills = max(sized.hbm_share, 0.01) * s.accelerator.hbm_bytes  # beside training state nothing may be left
    weights = memory.weight_bytes_per_gpu(s.held, sized)
    room = memory.engine_room(s.held, s.accelerator, sized)
    named = ("generates", f"{gigabytes(weights)} of weights")
    if any(misfit.part in ENGINE and not of_a_moment(misfit) for misfit in misfits):
        longest_cache = memory.cache_bytes(s.held, sized.longest, sized)
        return (("generates", weights / fills), ("cache", longest_cache / fills)), (named,), True
    alive = planner.live(s) / max(s.slots, 1e-9) if not misfits else 1.0
    cache = f"cache, {1 - alive:.0%} unused" if alive < 0.995 else "the rest is cache"
    parts = ("generates", weights / fills), ("cache", alive * room / fills), ("waits", (1 - alive) * room / fills)
    return parts, (named, ("cache", cache)), False


def trainer(s: Scenario, misfits: Sequence[Misfit]) -> Side:
    """What a trainer's GPU holds at its fullest moment, of what it may fill."""
    moments = envelope.envelope(s.held, s.accelerator, s.job)
    has = (1 - memory.RESERVE) * s.accelerator.hbm_bytes
    fullest = max((name for name in moments if name != "generate"), key=lambda name: envelope.total(moments[name]))
    contents = moments[fullest]
    state, weights = sum(contents.get(part, 0) for part in STATE), contents.get("weights", 0)
    cache = contents.get("cache", 0)  # of an engine that never sleeps
    passes = envelope.total(contents) - state - weights - cache
    amounts_of = dict(trains=state, generates=weights, passes=passes, **(dict(cache=cache) if cache else {}))
    parts = tuple((role, amount / has) for role, amount in amounts_of.items())
    of_training = (*STATE, "activations", "logits")
    over = any(misfit.part in of_training or of_a_moment(misfit) for misfit in misfits)
    amounts = (state, "of training state"), (weights, "of weights"), (passes, "for a pass")
    named = zip(parts, amounts)
    words = [(role, f"{gigabytes(amount)} {of}") for (role, share), (amount, of) in named if share >= SEEN]
    if (empty := 1 - sum(share for _, share in parts)) > EMPTY:
        words.append(("", f"{empty:.0%} empty"))
    return parts, tuple(words), over


def gigabytes(amount: float) -> str:
    return f"{amount / 1e9:,.0f} GB" if amount >= 9.5e9 else f"{amount / 1e9:.2g} GB"


def empty(s: Scenario) -> float:
    """The share of a trainer's memory that nothing fills."""
    parts, *_ = trainer(s, [])
    return 1 - sum(share for _, share in parts)


def of_a_moment(misfit: Misfit) -> bool:
    """Whether a misfit is of a whole moment of the trainer's GPUs (scoring, sending weights), not of one part."""
    return misfit.what.startswith("the moment of")


def misfits_of(misfits: Sequence[Misfit], parts: Sequence[str]) -> list[Misfit]:
    return [misfit for misfit in misfits if misfit.part in parts]


def cluster(drawn_pools: Sequence[Pool], misfits: Sequence[Misfit]) -> View:
    alt = "; ".join(
        ": ".join(filter(None, (pool.name, ", ".join(words for _, words in pool.words)))) for pool in drawn_pools
    )
    end = f". It does not fit: {misfits[0].what}." if misfits else "."
    return fleet.view("f", alt + end, drawn_pools, impossible_job.beyond(misfits[0]) if misfits else "")


# ── a step ──


def rows(s: Scenario) -> list[tuple[str, tuple[str, ...]]]:
    """[(name, roles that follow each other on it)] of the ways to overlap; what waits for all comes last."""
    side_by_side, after = step.LANES[step.pausing(s.overlap)]
    after = tuple(role for role in after if role != "other")
    lanes_named = []
    for lane in side_by_side:
        name = "tests" if lane == ("verify",) else "engines" if "train" not in lane else "trainers"
        lanes_named.append((name if len(side_by_side) > 1 else "all GPUs", lane + after * (len(side_by_side) == 1)))
    if len(side_by_side) > 1 and after:
        lanes_named[0] = (lanes_named[0][0], lanes_named[0][1] + after)
    return [(name, lane) for name, lane in lanes_named if name != "tests" or s.test_seconds]


def longest_row(s: Scenario, plan: Plan) -> str:
    """The name of the lane that the step waits for."""
    longest, *_ = step.critical_lanes(plan.fast, step.pausing(s.overlap))
    return next(name for name, lane in rows(s) if set(lane) & set(longest))


def waited_for(s: Scenario, plan: Plan) -> str:
    """Who sets the pace, in the plural: that lane or, where it is more than half of it, the tests or the transfers."""
    key = step.pausing(s.overlap)
    longest, *_ = step.critical_lanes(plan.fast, key)
    whole = step.lane_seconds(plan.fast, longest, key)
    for role, name in (("verify", "tests"), ("sync", "weight transfers")):
        if role in longest and 2 * step.seconds(plan.fast, role, key) > whole:
            return name
    return longest_row(s, plan)


def step_lanes(s: Scenario, plan: Plan) -> View:
    """The seconds of each role and what waits, up to the short end of the range; beyond it, pale, the long end."""
    key = step.pausing(s.overlap)
    short, long = plan.step_range
    named = rows(s)
    waited = longest_row(s, plan)
    later = step.timeline(plan.slow, key)
    marks: list[Mark] = []
    for row, (_, lane) in enumerate(named):
        for role in lane:
            start, seconds = later[role]
            marks.append(lanes.span(f"q{row}{role}", row, max(start, short), max(start + seconds, short), LANES[role]))
    at = step.timeline(plan.fast, key)
    for row, (_, lane) in enumerate(named):
        clock = 0.0
        for role in lane:
            start, seconds = at[role]
            if start > clock * (1 + 1e-9) + 1e-9:
                marks.append(lanes.span(f"w{row}{role}", row, clock, start, "waits"))
            text = NAMES[role] if seconds > LETTER * len(NAMES[role]) * long else ""
            marks.append(lanes.span(f"s{role}", row, start, start + seconds, LANES[role], text))
            clock = start + seconds
        marks.append(lanes.span(f"w{row}", row, clock, max(short, clock), "waits"))
    marks.append(lanes.measure("m", 0, short, f"{duration(short, short=True)} if all goes well"))
    slow = "as slow as published runs" if s.calibration is None else "at most, by what you timed"
    return lanes.board(
        "b",
        f"At the short end of its range, a step takes {duration(short)} and waits for {waited}.",
        long,
        [(name, WAITED * (name == waited and len(named) > 1)) for name, _ in named],
        *marks,
        ticks=[0, (long, f"{duration(long, short=True)}, {slow}")],
        now=short,
        tall=64 / len(named) - 8,
        gap=8,
        top=26,
    )
