"""The pictures of lesson 20 show the block tables as they were, and their rings claim no more."""

import pytest

from sim.cluster import pool_states
from widgets.kv_cache import figures, wall

POOLS = [
    ("opening", way, step, figures.played(way)[1], figures.SMALL_POOL)
    for way in figures.WAYS
    for step in figures.OPENING.time.positions
] + [
    ("pool", way, second, figures.filled_up(way)[1], figures.LARGE)
    for way in figures.HANDED
    for second in figures.SECONDS
]


def marks(name, at, moment, kind):
    figure = figures.FIGURES[name]
    views = [view for column in figure.panels(at, moment)[0]["columns"] for view in column]
    return [mark for view in views for mark in view["marks"] if mark["kind"] == kind]


def pools(figure):
    """(choice of the handle, moment, states, blocks) of every position of a figure."""
    return [pool for name, *pool in POOLS if name == figure]


@pytest.mark.parametrize("name", ["opening", "pool"])
def test_a_block_is_drawn_as_the_tables_have_it(name):
    for way, moment, states, blocks in pools(name):
        state = pool_states.at(states, moment)
        (wall_of_blocks,) = marks(name, way, moment, "blocks")
        assert len(wall_of_blocks["cells"]) == blocks
        for (role, full, words), owners in zip(wall_of_blocks["cells"], pool_states.owners(state, blocks)):
            assert (role in ("held", "shared")) == bool(owners) and (role == "shared") == (len(owners) > 1)
            if len(owners) == 1:
                ((s, place),) = owners
                assert words == wall.NAMES[s] and full == pool_states.tokens_in(state, s, place, 16) / 16
            if len(owners) > 1:
                assert words == f"×{len(owners)}"


def test_the_ring_of_the_opening_stands_where_all_blocks_are_taken_and_somebody_waits():
    for way, step, states, blocks in pools("opening"):
        (ring,) = marks("opening", way, step, "ring")
        state = pool_states.at(states, step)
        taken = sum(map(bool, pool_states.owners(state, blocks)))
        assert ring["seen"] == (taken == blocks and bool(state.waiting))
        if ring["seen"]:
            filled = sum(min(state.known[s], 16 * len(table)) for s, table in state.tables.items()) / (16 * blocks)
            assert ring["words"] == f"all taken, {100 * (1 - filled):.0f} % empty"
            assert way == "room for the longest" and filled < 0.3


def test_the_opening_rests_where_four_fifths_are_empty_as_the_head_of_the_page_says():
    figure = figures.OPENING
    ring = marks("opening", "room for the longest", figure.time.positions[figure.time.start], "ring")[0]
    assert ring["words"] == "all taken, 80 % empty"
    assert figures.most_at_once("room for the longest") == 4 and figures.most_at_once("16 tokens at a time") == 12


def test_framed_blocks_were_the_last_of_who_was_evicted():
    framed = 0
    for way, second, states, _ in pools("pool"):
        lost = pool_states.lost(states, max(second - 1, 0), second)
        (wall_of_blocks,) = marks("pool", way, second, "blocks")
        for number, (role, _, owner) in enumerate(wall_of_blocks["cells"]):
            if role == "lost":
                framed += 1
                assert number in lost[wall.NAMES.index(owner)]
    assert framed > 0


def test_every_way_has_the_same_completions_on_one_clock():
    ends = [figures.filled_up(way)[0].makespan for way in figures.HANDED]
    assert ends == sorted(ends, reverse=True) and ends[0] < figures.SECONDS[-1]
    live = [max(len(state.running) for state in figures.filled_up(way)[1]) for way in figures.HANDED]
    assert live == sorted(live)
    preempted = {way: figures.filled_up(way)[0].preemptions for way in figures.HANDED}
    assert preempted["room for the longest"] == 0 < preempted["blocks"]


def test_the_bars_of_the_completions_are_as_long_as_their_tokens():
    step = 16
    state = pool_states.at(figures.played("room for the longest")[1], step)
    bars = {mark["key"]: mark for mark in marks("opening", "room for the longest", step, "bar")}
    unit = bars["qw0"]["wide"] / (figures.JOB[0].prompt + figures.JOB[0].output)
    for s, request in enumerate(figures.JOB):
        assert bars[f"qp{s}"]["wide"] == pytest.approx(unit * request.prompt)
        assert bars[f"qk{s}"]["wide"] == pytest.approx(unit * state.known[s])
