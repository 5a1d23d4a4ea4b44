"""Divergences of a student from a teacher against closed forms and finite differences."""

import numpy as np
import pytest

from sim.estimators import distillation

PI = np.array([0.7, 0.2, 0.08, 0.02])
TAU = np.array([0.1, 0.6, 0.25, 0.05])
LOGP, TEACHER = np.log(PI)[None], np.log(TAU)[None]
ALL = {
    "reverse": distillation.reverse,
    "forward": distillation.forward,
    **{f"jsd {beta}": lambda p, t, beta=beta: distillation.jsd(p, t, beta) for beta in (0.1, 0.5, 0.9)},
    **{f"likeliest {k}": lambda p, t, k=k: distillation.likeliest(p, t, k) for k in (1, 2, 4)},
}


def log_softmax(z):
    return z - np.log(np.exp(z).sum())


@pytest.mark.parametrize("name", ALL)
def test_the_slope_is_that_of_the_value_by_the_logits(name):
    z = np.log(PI) + 0.3

    def value(z):
        return ALL[name](log_softmax(z)[None], TEACHER)[0][0]

    measured = [(value(z + step) - value(z - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(ALL[name](LOGP, TEACHER)[1][0], measured, atol=1e-7)


def test_values_of_four_tokens():
    # π · log(π/τ) and τ · log(τ/π) summed by hand; JSD from m = (1 − β) π + β τ
    assert distillation.reverse(LOGP, TEACHER)[0][0] == pytest.approx(1.032934089312545, abs=1e-9)
    assert distillation.forward(LOGP, TEACHER)[0][0] == pytest.approx(0.7952494656861333, abs=1e-9)
    for beta, value in ((0.1, 0.07121464847337369), (0.5, 0.20517901474311245), (0.9, 0.08604541444047492)):
        assert distillation.jsd(LOGP, TEACHER, beta)[0][0] == pytest.approx(value, abs=1e-9)
    assert distillation.likeliest(LOGP, TEACHER, 2)[0][0] == pytest.approx(0.9440259439979569, abs=1e-9)


def test_slopes_of_four_tokens():
    def slope(name):
        return ALL[name](LOGP, TEACHER)[1][0]

    np.testing.assert_allclose(slope("reverse"), [0.63908324, -0.42630928, -0.17378947, -0.0389845], atol=1e-7)
    np.testing.assert_allclose(slope("forward"), PI - TAU, atol=1e-12)
    np.testing.assert_allclose(slope("jsd 0.5"), [0.131467, -0.0877143, -0.0363166, -0.0074361], atol=1e-6)
    np.testing.assert_allclose(slope("likeliest 2"), [0.595, -0.43, -0.182, 0.017], atol=1e-12)  # 0.85 π − τ on two
    np.testing.assert_allclose(slope("likeliest 4"), slope("forward"), atol=1e-12)


def test_reverse_kl_does_not_push_what_the_student_never_writes():
    logp = np.log(np.array([[1 - 2e-11, 1e-11, 1e-11]]))
    teacher = np.log(np.array([[0.01, 0.98, 0.01]]))
    assert abs(distillation.reverse(logp, teacher)[1][0, 1]) < 1e-9
    assert abs(distillation.jsd(logp, teacher, 0.5)[1][0, 1]) < 1e-9
    assert distillation.forward(logp, teacher)[1][0, 1] == pytest.approx(-0.98, abs=1e-9)


def test_the_mean_advantage_of_drawn_tokens_is_minus_the_reverse_kl():
    advantage = distillation.drawn(LOGP, TEACHER)[0]
    np.testing.assert_allclose(advantage, [-1.945910, 1.098612, 1.139434, 0.916291], atol=1e-6)  # logs of τ/π
    assert PI @ advantage == pytest.approx(-1.032934089312545, abs=1e-9)


def test_the_mean_push_of_drawn_tokens_is_the_slope_of_all_logits():
    score = np.eye(4) - PI  # ∇ log π of each token by the logits
    mean = (PI * distillation.drawn(LOGP, TEACHER)[0]) @ score
    np.testing.assert_allclose(-mean, distillation.reverse(LOGP, TEACHER)[1][0], atol=1e-12)


def test_bytes_of_a_token():
    # Qwen3-32B: a vocabulary of 151,936, a width of 5,120
    assert distillation.bytes_per_token(32, 151_936, 5_120) == {
        "drawn token": 4,
        "likeliest k": 256,
        "all logits": 303_872,
        "hidden state": 10_240,
    }
