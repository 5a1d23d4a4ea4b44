"""The cluster of a plan as a scene: what the memory of each GPU holds, and the lanes of a step below."""

from collections.abc import Sequence
from typing import Any

from rlpt.planning import planner
from rlpt.planning.planner import Plan, Scenario
from sim.cluster import envelope, memory, step
from sim.cluster.memory import Misfit
from widgets.frame.contract import impossible_job
from widgets.frame.drawing import fleet, lanes, scene
from widgets.frame.drawing.fleet import Pool, Side
from widgets.frame.drawing.marks import Panel, bars
from widgets.frame.drawing.scene import Mark, View
from widgets.frame.drawing.written import figures

TITLE = "The cluster, and a step of it"
WIDE, HIGH = 21.5, 6.6  # squares
BODY = 6.1  # of them, cells and their words
PLAIN = ("layout", "input")  # misfits of which no memory can be drawn
ENGINE, STATE = ("weights", "sequence"), ("state", "reference", "critic")
LANES = dict(rollout="generates", verify="other", log_probs="passes", train="trains", sync="cache", switch="cache")
NAMES = dict(rollout="rollout", verify="tests", log_probs="log-probs", train="update", sync="weights", switch="switch")
WAITED = "waited for"
LETTER = 0.024  # of the board on a phone: a span that is narrower than its name has none


def picture(s: Scenario, found: Plan | None, misfits: Sequence[Misfit], tab: str) -> Panel:
    """The scene of a scenario, of its plan where nothing is impossible."""
    shown = pools(s, misfits)
    each = fleet.per_cell(shown)
    stands = "a GPU" if each == 1 else f"{each} GPUs"
    board = step_lanes(s, found) if found else no_lanes(s)
    needs = [sum(share for _, share in side.parts) for pool in shown for side in pool.sides]
    return scene.scene(
        TITLE,
        f"a cell: {stands}; hatched: unused",
        [cluster(shown, misfits), board],
        tab=tab,
        front=True,
        data=[bars([str(i) for i in range(len(needs))], [100 * share for share in needs], "% of what a GPU may fill")],
    )


# ── memory ──


def generating(s: Scenario, misfits: Sequence[Misfit]) -> Side:
    """What an engine's GPU holds, of what the engine may fill: its weights, the cache of what is in flight, and what is
    left of it; where it does not fit, the cache of one longest sequence.
    """
    engine = envelope.sized(s.model, s.accelerator, s.engine)
    fills = engine.hbm_share * s.accelerator.hbm_bytes
    weights = memory.weight_bytes_per_gpu(s.model, engine)
    room = memory.engine_room(s.model, s.accelerator, engine)
    one = memory.cache_bytes(s.model, engine.longest, engine)
    if any(found.part in ENGINE and not of_a_moment(found) for found in misfits):
        return Side((("generates", weights / fills), ("cache", one / fills)), True)
    alive = planner.live(s) / max(s.slots, 1e-9) if not misfits else 1.0
    return Side(
        (("generates", weights / fills), ("cache", alive * room / fills), ("waits", (1 - alive) * room / fills))
    )


def training(s: Scenario, misfits: Sequence[Misfit]) -> Side:
    """What a trainer's GPU holds at its fullest moment, of what it may fill."""
    moments = envelope.envelope(s.model, s.accelerator, s.job)
    has = (1 - memory.RESERVE) * s.accelerator.hbm_bytes
    fullest = max((name for name in moments if name != "generate"), key=lambda name: envelope.total(moments[name]))
    held = moments[fullest]
    state, weights = sum(held.get(part, 0) for part in STATE), held.get("weights", 0)
    passes = envelope.total(held) - state - weights
    parts = (("trains", state / has), ("generates", weights / has), ("passes", passes / has))
    said = (*STATE, "activations", "logits")
    return Side(parts, any(found.part in said or of_a_moment(found) for found in misfits))


def of_a_moment(found: Misfit) -> bool:
    """Whether it is of the trainer's GPUs while they score or send weights, whatever of it is the largest part."""
    return found.what.startswith("the moment of")


def misfits_of(misfits: Sequence[Misfit], parts: Sequence[str]) -> list[Misfit]:
    return [found for found in misfits if found.part in parts]


def pools(s: Scenario, misfits: Sequence[Misfit]) -> list[Pool]:
    """[fleet.Pool]: two, or one whose GPUs take turns."""
    gpus = envelope.pools(s.job)
    if misfits_of(misfits, PLAIN):
        sides, engine, words = (Side(()), Side(())), 0, ("", "")
    else:
        sides = generating(s, misfits), training(s, misfits)
        engine = 0 if s.engine.tensor_parallel is None else s.engine.size
        words = said_of(s, sides, misfits)
    if s.placement == "two pools":
        names = [f"{gpus[0]:,} generate{words[0]}", f"{gpus[1]:,} train{words[1]}"]
        sized = zip(names, gpus, [(side,) for side in sides], (engine, 0))
        return [Pool(*pool) for pool in sized]
    halves = (
        f": left{words[0].partition(' of')[0][1:]} of weights, right{words[1].partition(',')[2]}" if words[0] else ""
    )
    return [Pool(f"{gpus[0]:,} in turn{halves}", gpus[0], sides, engine)]


def said_of(s: Scenario, sides: tuple[Side, Side], misfits: Sequence[Misfit]) -> tuple[str, str]:
    """What a GPU holds, in words, of an engine and of a trainer, from the floor of its cell up."""
    fills, has = s.hbm_share * s.accelerator.hbm_gb, (1 - memory.RESERVE) * s.accelerator.hbm_gb
    weights = sides[0].parts[0][1] * fills
    state, others, passes = (share * has for _, share in sides[1].parts)
    whole = state + others + passes
    beside = "" if misfits else f", {planner.live(s):,.0f} sequences an engine"
    return f": {weights:,.0f} GB of weights{beside}", f": {state:,.0f} GB of state, {whole:,.0f} of {has:,.0f} in all"


def cluster(shown: Sequence[Pool], misfits: Sequence[Misfit]) -> View:
    pixels = lanes.SQUARE * WIDE, lanes.SQUARE * BODY
    over = [i for i, pool in enumerate(shown) for side in pool.sides if side.over]
    at = over[0] if over else 0
    x, y, wide, high = (size / lanes.SQUARE for size in fleet.box_of(shown, at, *pixels))
    words = impossible_job.beyond(misfits[0]) if misfits else ""
    alt = "; ".join(pool.words for pool in shown) + (f". It does not fit: {misfits[0].what}." if misfits else ".")
    return scene.view(
        "g",
        WIDE,
        HIGH,
        alt,
        scene.fleet("f", shown, WIDE, BODY),
        scene.ring("r", (x, y), words, bool(misfits), (wide, high + 0.15), side="right" if wide < 12 else "below"),
    )


# ── a step ──


def rows(s: Scenario) -> list[tuple[str, tuple[str, ...]]]:
    """[(name, roles that follow each other on it)] of the ways to overlap; what waits for all comes last."""
    found, after = step.LANES[step.pausing(s.overlap)]
    after = tuple(role for role in after if role != "other")
    named = []
    for lane in found:
        name = "tests" if lane == ("verify",) else "engines" if "train" not in lane else "trainers"
        named.append((name if len(found) > 1 else "all GPUs", lane + after * (len(found) == 1)))
    if len(found) > 1 and after:
        named[0] = (named[0][0], named[0][1] + after)
    return [(name, lane) for name, lane in named if name != "tests" or s.test_seconds]


def step_lanes(s: Scenario, found: Plan) -> View:
    """The short end of the range: the seconds of each role, what waits, and a ring on what the step waits for."""
    roles, key = found.fast, step.pausing(s.overlap)
    at, exposed = step.timeline(roles, key), step.exposed(roles, key)
    whole = found.step_range[0]
    until = lanes.round_up(1.02 * whole)
    named = rows(s)
    marks: list[Mark] = []
    longest = next(i for i, (_, lane) in enumerate(named) if set(lane) & set(step.critical_lanes(roles, key)[0]))
    for row, (_, lane) in enumerate(named):
        clock = 0.0
        for role in lane:
            start, seconds = at[role]
            if start > clock * (1 + 1e-9) + 1e-9:
                marks.append(lanes.span(f"w{row}{role}", row, clock, start, "waits"))
            text = NAMES[role] if seconds > LETTER * len(NAMES[role]) * until else ""
            marks.append(lanes.span(f"s{role}", row, start, start + seconds, LANES[role], text))
            marks.append(lanes.path(f"u{role}", row, start, start + (seconds if role in exposed else 0.0)))
            clock = start + seconds
        marks.append(lanes.span(f"w{row}", row, clock, max(whole, clock), "waits"))
    waited, its = named[longest]
    marks.append(lanes.measure("m", 0, whole, f"a step: {planner.seconds_range(*found.step_range)}"))
    last = max(sum(at[role]) for role in its if role in exposed)
    marks.append(lanes.spot("l", (longest, longest), 0, last, "", len(named) > 1, "look", "inside"))
    alt = f"At the short end of the range a step takes {figures(whole)} s, and waits for {waited}."
    return lanes.board(
        "b",
        alt,
        until,
        [(name, WAITED * (i == longest and len(named) > 1)) for i, (name, _) in enumerate(named)],
        *marks,
        **shape(len(named)),
        **axis(until),
    )


def no_lanes(s: Scenario) -> View:
    """Of a job that does not fit there are no seconds."""
    named = rows(s)
    note = lanes.note("n", 0, 0.02, "no step: it does not fit", "inside")
    return lanes.board(
        "b", "No step: the job does not fit.", 1.0, [(name, "") for name, _ in named], note, **shape(len(named))
    )


def shape(count: int) -> dict[str, Any]:
    """How tall rows are, so that all boards are as high."""
    return dict(tall=64 / count - 10, gap=10, top=26)


def axis(until: float) -> dict[str, Any]:
    return dict(ticks=lanes.quarters(until), unit=" s")
