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

TITLE = "The cluster, and one step of it"
WIDE, HIGH = 21.5, 6.6  # squares
BODY = 6.1  # of them, cells and their words
PLAIN = ("layout", "input")  # misfits of which no memory can be drawn
ENGINE, STATE = ("weights", "sequence"), ("state", "reference", "critic")
LANES = dict(rollout="generates", verify="other", log_probs="passes", train="trains", sync="cache", switch="cache")
NAMES = dict(rollout="rollout", verify="tests", log_probs="log-probs", train="update", sync="weights", switch="switch")
WAITED = "waited for"
LETTER = 0.024  # of the board on a phone: a span that is narrower than its name has none


def picture(s: Scenario, plan: Plan | None, misfits: Sequence[Misfit], tab: str) -> Panel:
    """The scene of a scenario, of its plan where nothing is impossible."""
    drawn_pools = pools(s, misfits)
    gpus_a_cell = fleet.per_cell(drawn_pools)
    cell = "a GPU" if gpus_a_cell == 1 else f"{gpus_a_cell} GPUs"
    board = step_lanes(s, plan) if plan else no_lanes(s)
    needs = [sum(share for _, share in side.parts) for pool in drawn_pools for side in pool.sides]
    return scene.scene(
        TITLE,
        f"each cell is {cell}; hatched memory is unused",
        [cluster(drawn_pools, misfits), board],
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
    longest_cache = memory.cache_bytes(s.model, engine.longest, engine)
    if any(misfit.part in ENGINE and not of_a_moment(misfit) for misfit in misfits):
        return Side((("generates", weights / fills), ("cache", longest_cache / fills)), True)
    alive = planner.live(s) / max(s.slots, 1e-9) if not misfits else 1.0
    return Side(
        (("generates", weights / fills), ("cache", alive * room / fills), ("waits", (1 - alive) * room / fills))
    )


def training(s: Scenario, misfits: Sequence[Misfit]) -> Side:
    """What a trainer's GPU holds at its fullest moment, of what it may fill."""
    moments = envelope.envelope(s.model, s.accelerator, s.job)
    has = (1 - memory.RESERVE) * s.accelerator.hbm_bytes
    fullest = max((name for name in moments if name != "generate"), key=lambda name: envelope.total(moments[name]))
    contents = moments[fullest]
    state, weights = sum(contents.get(part, 0) for part in STATE), contents.get("weights", 0)
    passes = envelope.total(contents) - state - weights
    parts = (("trains", state / has), ("generates", weights / has), ("passes", passes / has))
    of_training = (*STATE, "activations", "logits")
    return Side(parts, any(misfit.part in of_training or of_a_moment(misfit) for misfit in misfits))


def of_a_moment(misfit: Misfit) -> bool:
    """Whether a misfit is of a whole moment of the trainer's GPUs (scoring, sending weights), not of one part."""
    return misfit.what.startswith("the moment of")


def misfits_of(misfits: Sequence[Misfit], parts: Sequence[str]) -> list[Misfit]:
    return [misfit for misfit in misfits if misfit.part in parts]


def pools(s: Scenario, misfits: Sequence[Misfit]) -> list[Pool]:
    """Two pools, or one whose GPUs take turns."""
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
    return [Pool(f"{gpus[0]:,} in one pool{halves}", gpus[0], sides, engine)]


def said_of(s: Scenario, sides: tuple[Side, Side], misfits: Sequence[Misfit]) -> tuple[str, str]:
    """What a GPU of an engine holds, and one of a trainer, in words, in the order of their cells from below."""
    fills, has = s.hbm_share * s.accelerator.hbm_gb, (1 - memory.RESERVE) * s.accelerator.hbm_gb
    weights = sides[0].parts[0][1] * fills
    state, frozen, passes = (share * has for _, share in sides[1].parts)
    whole = state + frozen + passes
    beside = "" if misfits else f", {planner.live(s):,.0f} sequences per engine"
    return f": {weights:,.0f} GB of weights{beside}", f": {state:,.0f} GB of state, {whole:,.0f} of {has:,.0f} in all"


def cluster(drawn_pools: Sequence[Pool], misfits: Sequence[Misfit]) -> View:
    pixels = lanes.SQUARE * WIDE, lanes.SQUARE * BODY
    over = [i for i, pool in enumerate(drawn_pools) for side in pool.sides if side.over]
    at = over[0] if over else 0
    x, y, wide, high = (size / lanes.SQUARE for size in fleet.box_of(drawn_pools, at, *pixels))
    words = impossible_job.beyond(misfits[0]) if misfits else ""
    alt = "; ".join(pool.words for pool in drawn_pools) + (f". It does not fit: {misfits[0].what}." if misfits else ".")
    return scene.view(
        "g",
        WIDE,
        HIGH,
        alt,
        scene.fleet("f", drawn_pools, WIDE, BODY),
        scene.ring("r", (x, y), words, bool(misfits), (wide, high + 0.15), side="right" if wide < 12 else "below"),
    )


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


def step_lanes(s: Scenario, plan: Plan) -> View:
    """The short end of the range: the seconds of each role, what waits, and a ring on what the step waits for."""
    roles, key = plan.fast, step.pausing(s.overlap)
    at, exposed = step.timeline(roles, key), step.exposed(roles, key)
    whole = plan.step_range[0]
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
    waited, its_roles = named[longest]
    marks.append(lanes.measure("m", 0, whole, f"a step: {planner.seconds_range(*plan.step_range)}"))
    last = max(sum(at[role]) for role in its_roles if role in exposed)
    marks.append(lanes.spot("l", (longest, longest), 0, last, "", len(named) > 1, "look", "inside"))
    alt = f"At the short end of its range, a step takes {figures(whole)} s and waits for {waited}."
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
    """An empty board: a job that does not fit has no step."""
    named = rows(s)
    note = lanes.note("n", 0, 0.02, "no step: it does not fit", "inside")
    return lanes.board(
        "b", "No step: the job does not fit.", 1.0, [(name, "") for name, _ in named], note, **shape(len(named))
    )


def shape(count: int) -> dict[str, Any]:
    """Row heights that make all boards equally high."""
    return dict(tall=64 / count - 10, gap=10, top=26)


def axis(until: float) -> dict[str, Any]:
    return dict(ticks=lanes.quarters(until), unit=" s")
