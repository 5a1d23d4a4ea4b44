"""NeMo RL's console, as the print statements of its grpo.py spell it."""

from tests.rlpt.logs.made import column, read


def step(n, reward):
    return (
        f"\n========================= Step {n}/100 =========================\n"
        "▶ Preparing batch...\n\n📊 Training Results:\n  • Loss: 0.0481\n  • Generation KL Error: 0.0007\n"
        f"  • Avg Reward: {reward:.4f}\n  • Mean Generation Length: 325.3184\n\n"
        "⏱️  Timing:\n  • Total step time: 12.30s\n"
    )


def test_the_numbers_under_a_step():
    log = read(step(1, 0.0742) + step(2, 0.125) + "\n📊 Validation Results:\n    • Accuracy: 0.1133\n")
    assert log.framework == "NeMo RL" and log.unit == "step"
    assert column(log, "reward") == ([1, 2], [0.0742, 0.125]) and column(log, "gen_kl_error")[1] == [0.0007, 0.0007]
    assert column(log, "mean_gen_tokens_per_sample")[1] == [325.3184, 325.3184]
    assert column(log, "validation/accuracy") == ([2], [0.1133])


def test_a_new_epoch_counts_on():
    epoch = "\n========================= Epoch {}/2 =========================\n"
    log = read(epoch.format(1) + step(1, 0.1) + step(2, 0.2) + epoch.format(2) + step(1, 0.3))
    assert column(log, "reward") == ([1, 2, 3], [0.1, 0.2, 0.3]) and log.notes == []
