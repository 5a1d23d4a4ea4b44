"""prime-rl's two consoles, as the log statements of its orchestrator.py and train.py spell them."""

import pytest

from tests.rlpt.logs.made import column, read

ORCHESTRATOR = (
    "12:01:0{0} SUCCESS Step {0} |   12.1s | Reward 0.{0}000 | Trainable 32/128 (25.0%) | Turns 1.0 | Branches 1.0 | "
    "Max Off-Policy 2 | Error 0.0% | Cancelled 0.0% | Truncation 12.5%\n"
)
OLDER = "Step {0} | Time: 12.10s | Reward: 0.{0} | Throughput: 900.1 tokens/s | Seq. Length: 310.5 tokens/sample\n"
TRAINER = (
    "12:01:0{0} SUCCESS Step {0} |    9.8s | Loss 0.0012 | Entropy 0.3100 | Mismatch KL 0.0008 | Grad. Norm 0.0500 | "
    "LR 1.00e-06 | Throughput 900 tokens/s | MFU 30.1% | Peak Mem. 60.0 GiB\n"
)


def test_the_orchestrator():
    log = read("".join(ORCHESTRATOR.format(n) for n in (1, 2)))
    assert log.framework == "prime-rl" and column(log, "reward/all/mean") == ([1, 2], [0.1, 0.2])
    assert column(log, "effective_batch_size/all")[1] == [0.25, 0.25]
    assert column(log, "is_truncated/all/mean")[1] == [0.125, 0.125]


def test_the_form_of_2025():
    assert column(read(OLDER.format(3)), "seq_len/all/mean") == ([3], [310.5])


def test_the_trainer_and_both_in_one_file_although_one_is_behind():
    micro = "Micro Step 1/4 | Loss 9.0000 | Entropy 9.0000\n"
    log = read("".join([ORCHESTRATOR.format(1), ORCHESTRATOR.format(2), micro, TRAINER.format(1), TRAINER.format(2)]))
    assert column(log, "optim/lr") == ([1, 2], [1e-06, 1e-06]) and column(log, "reward/all/mean") == (
        [1, 2],
        [0.1, 0.2],
    )
    assert column(log, "entropy/all/mean")[1] == [0.31, 0.31] and log.notes == []


@pytest.mark.parametrize("text", [ORCHESTRATOR, TRAINER])
def test_both_as_two_files(text):
    log = read({"orchestrator.log": ORCHESTRATOR.format(1), "trainer.log": TRAINER.format(1)})
    assert {"reward/all/mean", "mismatch_kl/all/mean"} <= log.columns.keys()
    assert read(text.format(1)).columns.keys() <= log.columns.keys()
