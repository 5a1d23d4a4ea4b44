"""Files that a reader brings to a page: they arrive in pieces, and every change of the form asks a new question.

The page runs this in a worker of its own without network or storage (site/assets/sandbox.js, files.js).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rlpt.logs import Unreadable
from widgets.frame.drawing.written import plain

Form = Mapping[str, Any]  # the content of the page's form: {name of a field: its value}


class Session:
    """What has been read so far. A page's own session says how: `opened` gives the reader of a file, with `feed` and
    `close`, and `together` makes one thing of what the readers returned.
    """

    def __init__(self) -> None:
        self.begin({})

    def opened(self, name: str) -> Any:
        raise NotImplementedError

    def together(self, closed: list[Any]) -> Any:
        raise NotImplementedError

    def begin(self, form: Form) -> None:
        self.form = form
        self.closed: list[Any] = []
        self.reader: Any = None
        self.read: Any = None

    def file(self, name: str) -> None:
        self.finish()
        self.reader = self.opened(name)

    def piece(self, data: Any) -> None:
        """Takes bytes, or a sentence that says why JavaScript could not read a file."""
        if isinstance(data, str):
            raise Unreadable(data)
        self.reader.feed(bytes(data.to_py() if hasattr(data, "to_py") else data))

    def finish(self) -> None:
        reader, self.reader = self.reader, None
        if reader:
            self.closed.append(reader.close())

    def end(self) -> None:
        self.finish()
        self.read = self.together(self.closed)


Answer = Callable[[Any, Form], dict[str, Any]]


def stream(
    session: Session, step: str, data: Any, answer: Answer, sample: Callable[[str], dict[str, str]], offered: Answer
) -> Iterator[str]:
    """The answer to one step of the page's conversation, as JSON.

    `begin` and `ask` come with the form, `file` and `sample` with a name, `piece` with bytes. The answer to `ask` is
    that of `answer`, to `sample` {files}, and to the others {}; to unreadable input it is {refused, written}: a
    sentence, and the options of the fields, from `offered`.
    """

    def took() -> dict[str, Any]:
        if step == "ask":
            return answer(session.read, json.loads(data))
        if step == "sample":
            return dict(files=sample(data))
        if step == "begin":
            session.begin(json.loads(data))
        elif step == "file":
            session.file(data)
        elif step == "piece":
            session.piece(data)
        elif step == "end":
            session.end()
        return {}

    try:
        yield json.dumps(plain(took()))
    except Unreadable as fault:
        form = json.loads(data) if step == "ask" else session.form
        yield json.dumps(dict(refused=str(fault), written=offered(session.read, form)))
