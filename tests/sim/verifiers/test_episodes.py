"""What agents leave behind, and which check pays it."""

from sim.verifiers import episodes
from sim.verifiers.episodes import TOOL_CHECKS, WEB_CHECKS, desk_after, shop_after


def paid(checks, done):
    return [int(check(done)) for check in checks.values()]


def test_what_each_check_of_the_tool_pays():
    # says_done, tool_called, final_contains, exact_state
    expected = dict(
        act=[1, 1, 1, 1],
        slip=[1, 1, 0, 0],
        claim_done=[1, 0, 0, 0],
        wrong_args=[1, 1, 0, 0],
        delete_all_then_add=[1, 1, 1, 0],
        read_expected=[1, 1, 1, 1],
    )
    for name, pays in expected.items():
        assert paid(TOOL_CHECKS, desk_after(getattr(episodes, name), False)) == pays, name


def test_sealing_takes_the_pay_of_reading_and_of_nothing_else():
    assert paid(TOOL_CHECKS, desk_after(episodes.read_expected, True)) == [1, 0, 0, 0]
    for agent in (episodes.act, episodes.slip, episodes.claim_done, episodes.wrong_args, episodes.delete_all_then_add):
        assert paid(TOOL_CHECKS, desk_after(agent, True)) == paid(TOOL_CHECKS, desk_after(agent, False))


def test_what_each_check_of_the_shop_pays():
    # url, text, order_exists, exact_order
    expected = dict(
        buy_right=[1, 1, 1, 1],
        stop_at_the_cart=[0, 0, 0, 0],
        goto_success_url=[1, 0, 0, 0],
        echo_text=[0, 1, 0, 0],
        wrong_item=[1, 1, 1, 0],
        buy_twice=[1, 1, 1, 0],
    )
    for name, pays in expected.items():
        assert paid(WEB_CHECKS, shop_after(getattr(episodes, name))) == pays, name


def test_no_episode_leaves_a_trace_in_the_next():
    desk_after(episodes.delete_all_then_add, False)
    assert tuple(desk_after(episodes.claim_done, False).items) == episodes.LIST
