"""The parts of the language server, without a client."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.workspace import PositionCodec

from jitlint.findings import Span
from jitlint.project.config import ConfigError, ConfigResolver
from jitlint.project.index import Unparsable, index_source
from jitlint.server.documents import Document, Positions
from jitlint.server.edits import text_edits
from jitlint.server.memory import Indexes, Trees
from jitlint.server.options import Options, read_options
from jitlint.server.queue import Queue, Stopped
from jitlint.server.run import Cancelled, Folder
from jitlint.server.users import Users
from tests.cli.programs import BRANCH, CLEAN, FLAG
from tests.server.editor import apply

LONG = 60.0


def document(path: Path, text: str) -> Document:
    return Document(path.as_uri(), path, text, 1)


def never() -> bool:
    return False


# --- the queue ---


def test_the_newest_request_of_a_document_counts() -> None:
    queue, done, ended = Queue(), list[int](), threading.Event()

    def job(number: int) -> Callable[[Stopped], None]:
        def do(stopped: Stopped) -> None:
            done.append(number)
            ended.set()

        return do

    for number in range(5):
        queue.ask("a", job(number), 0.05)
    assert ended.wait(LONG)
    queue.close()
    assert done == [4]


def test_what_runs_is_stopped_and_begun_again_after_what_is_asked() -> None:
    queue, done = Queue(), list[str]()
    running, ended = threading.Event(), threading.Event()

    def long(stopped: Stopped) -> None:
        if "b" in done:
            done.append("a")
            ended.set()
            return
        running.set()
        while not stopped():
            pass

    queue.ask("a", long)
    assert running.wait(LONG)
    queue.ask("b", lambda stopped: done.append("b"))
    assert ended.wait(LONG)
    assert done == ["b", "a"]
    queue.close()
    assert not queue.is_waiting("a")


def test_what_fails_does_not_end_the_queue(caplog: pytest.LogCaptureFixture) -> None:
    queue, ended = Queue(), threading.Event()

    def fail(stopped: Stopped) -> None:
        raise RuntimeError("unforeseen")

    queue.ask("a", fail)
    queue.ask("b", lambda stopped: ended.set(), interrupt=False)
    assert ended.wait(LONG)
    queue.close()
    assert "unforeseen" in caplog.text


# --- analyses ---


def test_an_analysis_stops_when_it_is_not_wanted_and_leaves_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    folder = Folder(tmp_path)
    with pytest.raises(Cancelled):
        folder.check(document(path, FLAG), {}, Options(), lambda: True)
    outcome = folder.check(document(path, FLAG), {}, Options(), never)
    assert outcome.analysis is not None
    assert [finding.code for finding in outcome.analysis.findings] == ["JIT102"]


def test_a_warm_analysis_finds_what_a_cold_one_finds(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    warm = Folder(tmp_path)
    twice = BRANCH + BRANCH.replace("import jax\n", "")
    for text in (FLAG, BRANCH, twice, f"# moved\n\n{twice}", FLAG, CLEAN, f"{FLAG}\n{FLAG}"):
        found = warm.check(document(path, text), {}, Options(), never)
        cold = Folder(tmp_path).check(document(path, text), {}, Options(), never)
        assert found.analysis is not None
        assert cold.analysis is not None
        assert found.analysis.findings == cold.analysis.findings
        assert found.beliefs == cold.beliefs
        assert found.forecasts == cold.forecasts


def test_a_wrong_model_is_said(tmp_path: Path) -> None:
    (tmp_path / "jitlint.toml").write_text('extra-models = ["nowhere.toml"]\n')
    with pytest.raises(ConfigError, match="nowhere"):
        Folder(tmp_path).check(document(tmp_path / "a.py", CLEAN), {}, Options(), never)


def test_statements_of_the_same_text_have_trees_of_their_own(tmp_path: Path) -> None:
    from jitlint.project.modules import load_project

    (tmp_path / "a.py").write_text("x = 1\ny = 2\nx = 1\n")
    [module] = load_project([tmp_path], ConfigResolver()).modules
    trees = Trees()
    first = [trees.unit(module, statement) for statement in module.index.statements]
    nodes = [unit.node for unit in first]
    trees.done(whole=True)
    again = [trees.unit(module, statement) for statement in module.index.statements]
    assert [unit.node for unit in again] == nodes
    assert again[0].node is nodes[0]
    assert again[2].node is not again[0].node


def test_indexes_are_kept_and_faults_too() -> None:
    indexes = Indexes()
    assert indexes.index("x = 1\n") is indexes.index("x = 1\n")
    assert indexes.index("import jax\n") == index_source("import jax\n")
    for _ in range(2):
        with pytest.raises(Unparsable):
            indexes.index("def f(:\n")


# --- who uses whom ---


def test_users_are_found_through_packages_and_others(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    (package / "sub").mkdir(parents=True)
    files = {
        "pkg/__init__.py": "from .model import loss\n",
        "pkg/model.py": "def loss(x): return x\n",
        "pkg/other.py": "def nothing(): pass\n",
        "pkg/near.py": "from . import model\nmodel.loss(1)\n",
        "pkg/sub/__init__.py": "",
        "pkg/sub/far.py": "from ..model import loss\n",
        "train.py": "import pkg\npkg.loss(1)\n",
        "idle.py": "import pkg\npkg.something(1)\n",
        "run.py": "import train\n",
        "broken.py": "from pkg.model import (\n",
        "test_model.py": "from pkg.model import loss\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    resolver = ConfigResolver()
    users = Users(tmp_path, index_source)
    users.refresh(resolver)
    found = [path.relative_to(tmp_path).as_posix() for path in users.of(package / "model.py", {}, resolver)]
    assert set(found) == {"pkg/__init__.py", "pkg/near.py", "pkg/sub/far.py", "test_model.py", "train.py", "run.py"}
    assert found.index("test_model.py") < found.index("train.py") < found.index("run.py")
    assert found.index("pkg/near.py") < found.index("test_model.py")
    typed = {str(tmp_path / "idle.py"): "from pkg.model import loss\n"}
    assert tmp_path / "idle.py" in users.of(package / "model.py", typed, resolver)


# --- places ---


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_edits_make_the_new_text_whatever_the_line_ends(end: str) -> None:
    old = end.join(["a", "b 😀 c", "d", ""])
    codec = PositionCodec(types.PositionEncodingKind.Utf16)
    for new in ("", old + "e", old.replace("😀", "😀😀"), old.replace("d", ""), end.join(["a", "x", "b 😀 c"])):
        edits = text_edits(old, new, codec)
        if end == "\r":
            assert bool(edits) == (old != new)
        else:
            assert apply(old, edits) == new


def test_places_outside_of_the_text_are_moved_into_it() -> None:
    positions = Positions("ab\ncd", PositionCodec(types.PositionEncodingKind.Utf16))
    assert positions.position(9, 9) == types.Position(1, 2)
    assert positions.range(Span(1, 3, 1, 3)).start == types.Position(0, 2)
    assert positions.place(types.Position(7, 0)) == (8, 1)


# --- settings ---


def test_settings_that_are_wrong_are_told_and_left_out(tmp_path: Path) -> None:
    options, faults = read_options({"select": "JIT1", "hover": 1, "enabel": False, "ignore": ["JIT404"]}, tmp_path)
    assert options == Options(ignore=("JIT404",))
    assert faults == [
        "jitlint.select must be a list of rules",
        "jitlint.hover must be true or false",
        "there is no setting jitlint.enabel; did you mean enable?",
    ]
    assert read_options([], tmp_path) == (Options(), ["the settings of jitlint must be an object"])
    assert read_options({"configuration": "a.toml"}, tmp_path)[0].configuration == tmp_path / "a.toml"
