import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim.rollouts import blocks
from tests.sim.rollouts.shipped import rollouts, small


def steps_of(file, rows):
    return np.unique(file.step[rows]).tolist()


def test_five_steps_of_eight_groups_make_two_blocks():  # README of the runs
    file = rollouts("length")
    assert [steps_of(file, rows) for rows in blocks.blocks(file)] == [[1, 5, 10], [20, 40]]


def test_160_steps_make_eight_blocks_of_20_and_16_of_10():
    file = small(1280 * [[0, 1]], step=np.repeat(np.arange(160), 8))
    assert {len(steps_of(file, rows)) for rows in blocks.blocks(file)} == {20}
    assert {len(steps_of(file, rows)) for rows in blocks.blocks(file, blocks.FINE_BLOCKS)} == {10}


def test_the_beginning_is_the_first_64_completions_in_whole_steps():
    file = small(20 * [24 * [0]], step=np.arange(20))
    assert steps_of(file, blocks.base(file)) == [0, 1, 2]  # 72 completions
    assert blocks.base(small([[1.0]])).all()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_every_row_is_in_one_block_and_parts_of_it_are_whole_groups(groups_of_steps):
    step = np.repeat(np.arange(len(groups_of_steps)), groups_of_steps)
    file = small([[0, 1] for _ in step], step=step)
    parts = blocks.blocks(file)
    assert (np.sum(parts, axis=0) == 1).all()
    for part in parts:
        rows = blocks.some_groups(file.group, part, 16)
        assert 0 < len(rows) <= 16 and part[rows].all() and (np.bincount(file.group[rows]) % 2 == 0).all()
