"""Questions that ask for an answer: a fold `??? quiz` whose text is a list of answers, each begun by [x] if it is right
and by [ ] if it is not, with the reason below it. The answer that is chosen opens its reason; no script is needed.
"""

import html
import re
from itertools import count

QUIZ = re.compile(r'<details class="quiz">\s*<summary>(.*?)</summary>(.*?)</details>', re.S)
ITEM = re.compile(r"<li>\s*<p>\[(.)\]\s*(.*?)</p>(.*?)</li>", re.S)
ANSWERS = 2, 4  # fewest and most


def asked(body):
    """A page whose questions are forms."""
    numbers = count(1)
    return QUIZ.sub(lambda match: form(match, next(numbers)), body)


def form(match, number):
    question, answers = match[1], ITEM.findall(match[2])
    right = [sign for sign, _, _ in answers if sign == "x"]
    fewest, most = ANSWERS
    if not (fewest <= len(answers) <= most and len(right) == 1):
        plain = html.unescape(re.sub("<[^>]+>", "", question))
        raise ValueError(f"the quiz {plain!r} has {fewest} to {most} answers, of which one is right")
    options = "".join(option(number, *answer) for answer in answers)
    return f'<fieldset class="quiz" data-quiz><legend>{question}</legend>{options}</fieldset>'


def option(number, sign, answer, because):
    verdict = "Right." if sign == "x" else "Not this one."
    because = because.strip().replace("<p>", f"<p><b>{verdict}</b> ", 1)
    value = "right" if sign == "x" else "wrong"
    return (
        f'<div class="option"><label><input type="radio" name="quiz-{number}" value="{value}">'
        f'<span>{answer}</span></label><div class="because">{because}</div></div>'
    )
