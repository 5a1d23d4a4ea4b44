"""The mask of the loss to be changed, and runs to be found that do without a right one."""

import numpy as np

from sim.experiments import tool_masking
from widgets.agentic.widget import UPDATES, Knobs, right_now
from widgets.frame.contract.exercises import Challenge, Change, Exercise

OWN = np.array([[1.0, 1, 0, 0, 1, 1, 0], [1, 1, 1, 0, 0, 0, 0]])
VALID = np.array([[1.0, 1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0, 0]])
MASK = "    return shifted(own, valid, shift) if masked else valid"


def after_the_last_reply(own, valid, masked, shift):
    """What the policy wrote after the tool's last token; all of a completion that never called."""
    rows = zip(own, valid - own)
    return np.array([mine * (np.arange(len(mine)) >= len(np.trim_zeros(tool, "b"))) for mine, tool in rows])


def with_the_last_of_the_reply(own, valid, masked, shift):
    """The policy's tokens, and the tool's token before each turn that follows a reply."""
    mask = own.copy()
    for i, t in np.argwhere(valid - own > 0):
        mask[i, t] = t + 1 < own.shape[1] and own[i, t + 1]
    return mask


CHANGE = Change(
    (tool_masking.in_loss,),
    "the mask of the loss",
    (
        Exercise(
            "Train only on the last turn, which is what the policy wrote after the tool's last token. A completion "
            "without a call keeps all of its tokens.",
            ((OWN[:1], VALID[:1], True, 0), (OWN, VALID, True, 0)),
            after_the_last_reply,
            (
                "The tool's tokens are valid - own. None of them follows a token of the last turn.",
                "(valid - own)[:, ::-1].cumsum(axis=1)[:, ::-1] counts the tool's tokens from each position on.",
            ),
            (MASK, "    return own * ((valid - own)[:, ::-1].cumsum(axis=1)[:, ::-1] == 0)"),
        ),
        Exercise(
            "Let the tool's turn end one token early, so that its last token, just before the policy continues, counts "
            "as the policy's.",
            ((OWN[:1], VALID[:1], True, 0), (OWN, VALID, True, 0)),
            with_the_last_of_the_reply,
            (
                "Such a token directly precedes one of the policy's, so the mask moved one place left covers it.",
                "np.append(own[:, 1:], 0 * own[:, :1], axis=1) is that mask, and np.maximum combines it with own.",
            ),
            (MASK, "    return np.maximum(own, np.append(own[:, 1:], 0 * own[:, :1], axis=1))"),
        ),
    ),
)


def right(r):
    return right_now(r) if len(r) == UPDATES else 0.0


CHALLENGES = (
    Challenge(
        "Without the mask and with replies of 16 tokens, end at a pass rate of 0.9 or more.",
        lambda k, r: bool(not k.masked and k.reply == 16 and right(r) >= 0.9),
        Knobs(masked=False, reply=16, fill="0"),
    ),
    Challenge(
        "With REINFORCE and without the mask, end at a pass rate of 0.8 or more.",
        lambda k, r: bool(not k.masked and k.algorithm == "REINFORCE" and right(r) >= 0.8),
        Knobs(masked=False, reply=2, algorithm="REINFORCE"),
    ),
)
