import numpy as np

from rlpt.rollouts import sentences
from sim.rollouts import findings, report
from tests.rlpt.rollouts.test_seen import reported
from tests.sim.rollouts import shipped


def test_every_finding_has_a_sentence():
    assert sentences.SENTENCES.keys() == set(findings.ORDER)
    for name in shipped.NAMES:
        for one in reported(name).findings:
            said = sentences.sentence(one)
            assert said.endswith(".") and "{" not in said and len(said) < 220


def test_log_probs_of_sampler_and_trainer_are_told_apart():
    r = shipped.small(
        [[1, 0]], sampler=[np.array([-1.0]), np.array([-2.0])], trainer=[np.array([-1.5]), np.array([-1.0])]
    )
    assert sentences.apart(report.report(r)) == (
        "The trainer gives 50 % of the 2 tokens more than twice the probability that the sampler gave, and 0 % less "
        "than half of it. With importance weights, the effective number of tokens is 71.3 % of that (k3 0.41 nats per "
        "token)."
    )
    assert sentences.apart(reported("sound")) == ""
