"""The pictures of lesson 20 show the block tables as they were, and their rings claim no more."""

import pytest

from sim.cluster import pool_states
from tools.pages import results
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


@pytest.mark.parametrize("name", ["opening", "pool"])
def test_a_block_is_drawn_as_the_tables_have_it(name):
    for figure, way, moment, states, many in POOLS:
        if figure != name:
            continue
        state = pool_states.at(states, moment)
        (drawn,) = marks(name, way, moment, "blocks")
        held = pool_states.owners(state, many)
        assert len(drawn["cells"]) == many
        for (role, full, owner), who in zip(drawn["cells"], held):
            assert (role in ("held", "shared")) == bool(who) and (role == "shared") == (len(who) > 1)
            if len(who) == 1:
                ((s, place),) = who
                assert owner == wall.NAMES[s] and full == pool_states.tokens_in(state, s, place, 16) / 16
            if len(who) > 1:
                assert owner == f"×{len(who)}"


def test_the_ring_of_the_opening_stands_where_all_blocks_are_taken_and_somebody_waits():
    for figure, way, step, states, many in POOLS:
        if figure != "opening":
            continue
        (ring,) = marks(figure, way, step, "ring")
        state = pool_states.at(states, step)
        taken = sum(map(bool, pool_states.owners(state, many)))
        assert ring["seen"] == (taken == many and bool(state.waiting))
        if ring["seen"]:
            slots = sum(min(state.known[s], 16 * len(table)) for s, table in state.tables.items())
            assert ring["words"] == f"all taken, {100 * (1 - slots / (16 * many)):.0f} % empty"
            assert way == "the other" and slots / (16 * many) < 0.3


def test_the_opening_rests_where_four_fifths_are_empty_as_the_head_of_the_page_says():
    figure = figures.OPENING
    ring = marks("opening", "the other", figure.time.positions[figure.time.start], "ring")[0]
    assert ring["words"] == "all taken, 80 % empty"
    assert figures.most_at_once("the other") == 4 and figures.most_at_once("one setting") == 12


def test_framed_blocks_were_the_last_of_who_was_evicted():
    seen = 0
    for figure, way, second, states, _ in POOLS:
        if figure != "pool":
            continue
        lost = pool_states.lost(states, max(second - 1, 0), second)
        (drawn,) = marks(figure, way, second, "blocks")
        for number, (role, _, owner) in enumerate(drawn["cells"]):
            if role == "lost":
                seen += 1
                assert number in lost[wall.NAMES.index(owner)]
    assert seen > 0


def test_every_way_has_the_same_completions_on_one_clock():
    ends = [figures.filled_up(way)[0].makespan for way in figures.HANDED]
    assert ends == sorted(ends, reverse=True) and ends[0] < figures.SECONDS[-1]
    live = [max(len(state.running) for state in figures.filled_up(way)[1]) for way in figures.HANDED]
    assert live == sorted(live)
    preempted = {way: figures.filled_up(way)[0].preemptions for way in figures.HANDED}
    assert preempted["room for the longest"] == 0 < preempted["blocks"]


def test_the_bars_of_the_completions_are_as_long_as_their_tokens():
    step = 16
    state = pool_states.at(figures.played("the other")[1], step)
    bars = {mark["key"]: mark for mark in marks("opening", "the other", step, "bar")}
    unit = bars["qw0"]["wide"] / (figures.JOB[0].prompt + figures.JOB[0].output)
    for s, request in enumerate(figures.JOB):
        assert bars[f"qp{s}"]["wide"] == pytest.approx(unit * request.prompt)
        assert bars[f"qk{s}"]["wide"] == pytest.approx(unit * state.known[s])


def test_nothing_of_the_opening_names_the_setting():
    shown = str(results.positions("kv_cache", "opening")).lower()
    assert not any(word in shown for word in ("reserv", "longest", "max length", "paged"))
