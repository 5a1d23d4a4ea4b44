import numpy as np
import pytest

from sim.worlds import step_chain

N = 4_000


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    soundness, feature = step_chain.chains(N, 8, 0.9, 0.05, rng)
    return soundness, feature, step_chain.chain_values(8, 0.9, 0.05)


def test_values_follow_from_the_end():
    V = step_chain.chain_values(8, 0.9, 0.05)
    assert V[3] == pytest.approx([0.18543156, 0.62913688], abs=1e-7)  # the recursion by hand
    assert V[0] == pytest.approx([0.24250316, 0.51499368], abs=1e-7)
    assert V[8].tolist() == [0, 1]
    never = step_chain.chain_values(8, 0.9, 0.0)
    assert never[:, 1] == pytest.approx(0.9 ** np.arange(8, -1, -1)) and not never[:, 0].any()  # closed form


def test_chains_end_right_as_often_as_their_value_says(drawn):
    soundness, _, V = drawn
    assert soundness[:, -1].mean() == pytest.approx(V[0, 1], abs=4 * 0.5 / N**0.5)
    third = soundness[:, 2]
    for what in (0, 1):
        ended = soundness[third == what, -1]
        assert ended.mean() == pytest.approx(V[3, what], abs=4 * 0.5 / len(ended) ** 0.5)


def test_what_is_read_of_a_step_lies_on_its_side(drawn):
    soundness, feature, _ = drawn
    assert feature[soundness].mean() == pytest.approx(1.5, abs=0.05)
    assert feature[~soundness].mean() == pytest.approx(-1.5, abs=0.05)
