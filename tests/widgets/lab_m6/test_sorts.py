"""What M6 asks is what its picture shows, and each of its eight questions has one right answer among four."""

from widgets.lab_m6 import figures, sorts


def test_the_picture_begins_with_two_runs_and_ends_with_eight_of_one_policy():
    twins = figures.FIGURES["twins"]
    assert twins.time.positions == tuple(range(2, 9)) and twins.time.start == 0
    assert figures.said(2) == "Run A has 15 correct answers and run B has 24."
    assert "All eight runs come from one policy" in figures.said(8)
    assert figures.only(0, 1) == (4, 13)


def test_prompts_stand_in_the_order_of_how_many_runs_solve_them():
    solved = figures.passed().sum(0).tolist()
    assert solved == sorted(solved, reverse=True) and solved[:5] == [8] * 5 and solved[-7:] == [0] * 7


def test_four_answers_each_and_chance_does_not_put_the_right_one_in_the_same_place():
    places = []
    for case in sorts.EXAM.cases:
        assert len(case.among) == 4 and case.answer in case.among and set(case.hints) == {*case.among} - {case.answer}
        places.append(case.among.index(case.answer))
    assert len(set(places)) == 4
