import numpy as np
import pytest

from sim.cluster import verifier_pool
from sim.cluster.verifier_pool import CPU, WALL, pool

SEED = 0


def batch(slots, cores, clock=WALL, limit=10.0, startup=0.0):
    return pool(*verifier_pool.workload(np.random.default_rng(SEED)), slots, cores, limit, startup, clock)


def test_one_job_alone_takes_its_work():
    verdicts = pool(np.array([1.0]), np.array([3.0]), 1, 1)
    assert (verdicts.start[0], verdicts.end[0], verdicts.used[0]) == (1, 4, 3) and not verdicts.cut[0]
    assert verdicts.seconds == 4 and verdicts.busy == 3


def test_two_jobs_on_one_core_progress_at_half_speed():
    # both run at 1/2 until the first has its 2 seconds at 4; the second then needs 2 more, alone
    verdicts = pool(np.zeros(2), np.array([2.0, 4.0]), 2, 1)
    assert verdicts.end.tolist() == [4, 6] and verdicts.busy == 6


def test_a_wall_limit_cuts_what_needed_less_and_a_cpu_limit_does_not():
    # four jobs of 3 seconds share a core: each ends at 12 by itself, and has 10/4 seconds when 10 have passed
    by_wall = pool(np.zeros(4), np.full(4, 3.0), 4, 1)
    assert by_wall.cut.all() and by_wall.by_load.all() and by_wall.used.tolist() == [2.5] * 4 and by_wall.seconds == 10
    by_cpu = pool(np.zeros(4), np.full(4, 3.0), 4, 1, clock=CPU)
    assert not by_cpu.cut.any() and by_cpu.end.tolist() == [12] * 4


def test_what_needs_more_than_its_limit_is_cut_by_both_clocks_and_is_not_laid_to_load():
    for clock in (WALL, CPU):
        verdicts = pool(np.zeros(1), np.array([30.0]), 1, 1, clock=clock)
        assert verdicts.cut[0] and verdicts.over[0] and not verdicts.by_load[0] and verdicts.used[0] == 10


def test_start_up_is_work_and_counts_against_the_limit():
    verdicts = pool(np.zeros(2), np.array([3.0, 9.0]), 2, 2, startup=2.0)
    assert verdicts.end.tolist() == [5, 10] and verdicts.cut.tolist() == [False, True] and verdicts.busy == 15


def test_a_time_out_is_laid_to_what_would_have_to_be_absent():
    # one core each, a limit of 10 s: with 2 s of start-up they take 5, 11 and 14 s; by themselves 3, 9 and 12
    alone = pool(np.zeros(3), np.array([3.0, 9.0, 12.0]), 3, 3, startup=2.0)
    assert alone.cut.tolist() == [False, True, True] and not alone.by_load.any()
    assert alone.by_startup.tolist() == [False, True, False] and alone.by_itself.tolist() == [False, False, True]
    # on one core for all three the first gets 10/3 s of its 5, too
    crowded = pool(np.zeros(3), np.array([3.0, 9.0, 12.0]), 3, 1, startup=2.0)
    assert crowded.by_load.tolist() == [True, False, False] and crowded.by_startup.tolist() == [False, True, False]


def test_a_job_waits_for_a_slot_and_its_limit_begins_with_it():
    verdicts = pool(np.zeros(2), np.array([8.0, 9.0]), 1, 1)
    assert verdicts.start.tolist() == [0, 8] and verdicts.end.tolist() == [8, 17] and not verdicts.cut.any()


def test_a_lost_verdict_is_run_again_last_in_the_queue():
    verdicts = pool(np.zeros(3), np.array([1.0, 1.0, 1.0]), 1, 1, lost=np.array([True, False, False]))
    assert verdicts.end.tolist() == [4, 2, 3] and verdicts.busy == 4


def test_a_run_after_a_lost_one_has_a_limit_of_its_own():
    # the first run from 0 to 9 is lost; the second would be cut off at 10 if the deadline of the first still held
    verdicts = pool(np.zeros(1), np.array([9.0]), 1, 1, lost=np.array([True]))
    assert verdicts.end.tolist() == [18] and not verdicts.cut[0]


def test_the_longest_job_and_all_work_over_all_cores_bound_the_step():
    # Graham (1969)
    arrivals, work = np.zeros(200), np.random.default_rng(1).lognormal(0, 0.8, 200)
    for slots in (8, 32):
        seconds = pool(arrivals, work, slots, 8, limit=1e9).seconds
        assert max(work.max(), work.sum() / 8) <= seconds <= work.sum() / 8 + work.max() + 1e-9


def test_a_slot_holds_one_job_at_a_time():
    verdicts = batch(32, 8)
    for slot in range(32):
        here = verdicts.slot == slot
        order = np.argsort(verdicts.start[here])
        assert (verdicts.start[here][order][1:] >= verdicts.end[here][order][:-1] - 1e-9).all()


def test_cores_do_no_more_than_they_can():
    verdicts = batch(64, 8)
    assert verdicts.busy == pytest.approx(verdicts.used.sum(), abs=1e-6)
    assert verdicts.busy <= 8 * verdicts.seconds


@pytest.mark.parametrize("slots, share", [(32, 8 / 512), (64, 0.082), (128, 0.205), (256, 0.217)])
def test_more_slots_than_cores_cut_more_and_end_no_later(slots, share):
    # curriculum, lesson 18c: another program's run of the same seed
    verdicts = batch(slots, 32)
    assert verdicts.cut.mean() == pytest.approx(share, abs=0.004) and verdicts.seconds == pytest.approx(94.17, abs=0.01)
    assert verdicts.over.sum() == 8


def test_on_eight_cores_the_clock_decides_between_wrong_and_late():
    by_wall, by_cpu = batch(64, 8), batch(64, 8, CPU)
    assert by_wall.cut.mean() == pytest.approx(0.664, abs=0.004) and by_wall.seconds == pytest.approx(94.2, abs=0.3)
    assert by_cpu.cut.mean() == pytest.approx(0.016, abs=0.004) and by_cpu.seconds == pytest.approx(164.6, abs=0.3)


def test_load_cuts_the_long_ones():
    verdicts = batch(128, 32)
    work = verifier_pool.workload(np.random.default_rng(SEED))[1]
    quarters = np.argsort(work).reshape(4, 128)
    assert verdicts.cut.sum() == 105 and (verdicts.cut & (work < 10)).sum() == 97
    assert [round(float(verdicts.cut[q].mean()), 2) for q in quarters] == [0, 0, 0.12, 0.70]


@pytest.mark.slow
def test_the_mean_wait_is_erlang_s():
    # M/M/8 at a load of 6: C/(8 − 6) = 0.1785; three seeds of 60,000 jobs
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arrivals, work = np.cumsum(rng.exponential(1 / 6, 60_000)), rng.exponential(1.0, 60_000)
        verdicts = pool(arrivals, work, 8, 8, limit=1e9)
        assert (verdicts.start - arrivals).mean() == pytest.approx(0.1785, abs=0.025)


def test_the_chance_to_wait_is_erlang_s():
    # tables of the Erlang C formula
    for servers, load, chance in ((8, 6, 0.3569810859), (4, 3, 0.5094339623), (16, 12, 0.2045738584)):
        assert verifier_pool.erlang_c(servers, load) == pytest.approx(chance, abs=1e-9)
    assert verifier_pool.erlang_c(1, 0.3) == pytest.approx(0.3), "of a single server it is its load"


def test_the_share_over_a_limit_is_that_of_the_normal_distribution():
    for slowdown, share in ((1, 0.0221206496), (2, 0.1260293234), (4, 0.3901494878)):
        assert verifier_pool.over_limit(2, 0.8, 10, slowdown) == pytest.approx(share, abs=1e-9)


def test_flaky_tests_and_tries():
    for flake, tests, refused in ((0.001, 100, 0.0952078529), (0.0005, 20, 0.0099526427), (0.01, 10, 0.0956179250)):
        assert verifier_pool.flaky_fn(flake, tests) == pytest.approx(refused, abs=1e-9)
    assert verifier_pool.flaky_fn(0.001, 100) ** 3 == pytest.approx(0.0008630149, abs=1e-9)
    assert verifier_pool.retry_fp(0.05, 3) == pytest.approx(0.142625) and verifier_pool.retry_fp(0.2, 3) == (
        pytest.approx(0.488)
    )


def test_little_s_law():
    busy = verifier_pool.littles_law(512 / 60, verifier_pool.lognormal_mean(2, 0.8))
    assert busy == pytest.approx(23.5029805, abs=1e-6)  # 512/60 · 2 e^0.32


def test_what_is_cut_is_paid_nothing():
    paid = verifier_pool.paid(np.array([1.0, 1, 0]), np.array([False, True, True]), np.array([3.0, 4, 10]), 10.0)
    assert paid.tolist() == [1, 0, 0]


def test_the_same_programs_get_the_same_verdicts():
    first, again = batch(128, 32), batch(128, 32)
    assert (first.cut == again.cut).all() and (first.end == again.end).all()
