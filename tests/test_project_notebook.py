"""Notebooks: the module text, the map to cells, IPython's syntax, and the way back without touching other bytes."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitlint.project.config import ConfigResolver
from jitlint.project.index import Unparsable, split_rows
from jitlint.project.modules import load_project
from jitlint.project.notebook import Notebook, parse_notebook


def cell(source: str | list[str], kind: str = "code") -> dict[str, Any]:
    lines = source if isinstance(source, list) else source.splitlines(keepends=True)
    extra = {"execution_count": 7, "outputs": [{"data": {"text/plain": ["é\u2028"]}}]} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {"source": ["not this"]}, **extra, "source": lines}


def document(*cells: dict[str, Any], indent: int | None = 1, ascii_only: bool = False, **metadata: Any) -> str:
    content = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=indent, ensure_ascii=ascii_only) + "\n"


def notebook(*sources: str) -> Notebook:
    return parse_notebook(document(*(cell(source) for source in sources)))


def rows(*sources: str) -> list[str]:
    """The rows of the module text, without separators."""
    return [row for row in notebook(*sources).text.splitlines() if not row.startswith("# %%")]


def sources(text: str) -> list[str]:
    return ["".join(found["source"]) for found in json.loads(text)["cells"]]


def test_cells_in_order_are_one_module() -> None:
    found = parse_notebook(
        document(cell("# Title", "markdown"), cell("import jax\nx = 1"), cell("", "raw"), cell(""), cell("y = x\n"))
    )
    assert found.text == "# %% cell 2\nimport jax\nx = 1\n# %% cell 4\n# %% cell 5\ny = x\n"
    assert [found.locate(row) for row in range(1, 7)] == [(2, 1), (2, 1), (2, 2), (4, 1), (5, 1), (5, 1)]
    assert found.locate(99)[0] == 5


def test_a_notebook_without_code() -> None:
    found = parse_notebook(document(cell("text", "markdown")))
    assert found.text == ""
    assert found.locate(1) == (1, 1)
    assert found.rewritten("") == found.document


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%matplotlib inline\nx = 1", ["pass  # %matplotlib inline", "x = 1"]),
        ("!pip install jax\nx = 1", ["pass  # !pip install jax", "x = 1"]),
        ("f?\nf.g??\n?f\n", ["pass  # f?", "pass  # f.g??", "pass  # ?f"]),
        ("files = !ls *.py\nx", ["files = None  # !ls *.py", "x"]),
        ("a, b = %sql select 1\nx", ["a, b = None  # %sql select 1", "x"]),
        ("!pip install \\\n  jax \\\n  flax\nx = 1", ["pass  # !pip install ", "#  jax \\", "#  flax", "x = 1"]),
        ("%time y = f(x)\n", ["0    ;y = f(x)"]),
        ("%timeit -n 10 -r3 f(x)\n", ["0" + 16 * " " + ";f(x)"]),
        ("%timeit\n", ["pass  # %timeit"]),
        ("%time !ls\n", ["pass  # %time !ls"]),
        ("%%time\ny = f(x)\n", ["pass  # %%time", "y = f(x)"]),
        ("%%capture out\n%cd ..\ny = f(x)\n", ["pass  # %%capture out", "pass  # %cd ..", "y = f(x)"]),
        ("%%bash\necho 'x\n\nif\n", ["#%%bash", "#echo 'x", "", "#if"]),
        ("%%html\n<b>\n", ["#%%html", "#<b>"]),
        ("x = (10\n% 3)\ny = '''\n!ls\n'''\n", ["x = (10", "% 3)", "y = '''", "!ls", "'''"]),
        ("%cd ..\nx = (10\n% 3)\n", ["pass  # %cd ..", "x = (10", "% 3)"]),
        ("%cd ..\nx = '''\n!ls\n'''\n", ["pass  # %cd ..", "x = '''", "!ls", "'''"]),
        ("%cd ..\nx = 10 \\\n% 3\n", ["pass  # %cd ..", "x = 10 \\", "% 3"]),
        ("%cd ..\nx = '(' # (\n!ls\n", ["pass  # %cd ..", "x = '(' # (", "pass  # !ls"]),
        ("if x:\n    !ls\ny = 1\n", ["if x:", "    pass  # !ls", "y = 1"]),
        ("x = a != b\ny = a % b\n%cd ..\n", ["x = a != b", "y = a % b", "pass  # %cd .."]),
        ("await f()\n", ["await f()"]),
    ],
)
def test_ipython_syntax(source: str, expected: list[str]) -> None:
    assert rows(source) == expected
    ast.parse(notebook(source).text)
    assert notebook(source).rewritten(notebook(source).text) == notebook(source).document


@pytest.mark.parametrize("indent", [1, 2, None])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_only_the_changed_cell_is_written(indent: int | None, ascii_only: bool) -> None:
    before = document(
        cell("# é", "markdown"), cell("a = 'é'\nb = 2"), cell("c = 3\n"), cell(""), indent=indent, ascii_only=ascii_only
    )
    found = parse_notebook(before)
    after = found.rewritten(found.text.replace("b = 2", "b = '\u00fc'\nb2 = 1"))
    assert sources(after) == ["# é", "a = 'é'\nb = '\u00fc'\nb2 = 1", "c = 3\n", ""]
    assert after == document(
        cell("# é", "markdown"), cell("a = 'é'\nb = '\u00fc'\nb2 = 1"), cell("c = 3\n"), cell(""),
        indent=indent, ascii_only=ascii_only,
    )  # fmt: skip


def test_every_byte_outside_the_cell_stays() -> None:
    before = (
        '{"nbformat":4 , "cells" :\r\n [ {"cell_type":"code","source":["x = 1\\n" ,"\\u0079 = \\"2\\"" ], '
        '"outputs":[\r\n{"source": ["x = 1"], "é": 1e5}]},\t{"source": "z = 1", "cell_type": "code"}],"metadata":{ } }'
    )
    found = parse_notebook(before)
    assert found.text == '# %% cell 1\nx = 1\ny = "2"\n# %% cell 2\nz = 1\n'
    after = found.rewritten(found.text.replace("x = 1", "x = 3"))
    assert after == before.replace('["x = 1\\n" ,', '["x = 3\\n" ,')
    after = found.rewritten(found.text.replace("z = 1", "z = 'é'\nw = 1"))
    assert after == before.replace('"z = 1"', "\"z = 'é'\\nw = 1\"")


def test_an_import_before_the_first_cell_goes_into_it() -> None:
    found = parse_notebook(document(cell("t", "markdown"), cell("x = 1"), cell("y = 1")))
    assert sources(found.rewritten("import functools\n" + found.text)) == ["t", "import functools\nx = 1", "y = 1"]


def test_a_cell_that_becomes_empty_and_one_that_was() -> None:
    found = notebook("x = 1\n", "")
    after = found.rewritten(found.text.replace("x = 1\n", "") + "y = 1\n")
    assert sources(after) == ["", "y = 1"]
    assert '"source": []' in after
    assert '   "source": [\n    "y = 1"\n   ]' in after


def test_ipython_syntax_comes_back_in_a_changed_cell() -> None:
    source = "%load_ext x\nimport os\n%time f(1)\n!ls \\\n -l\nfiles = !ls\n%load_ext x"
    found = notebook(source)
    edited = found.text.replace("import os\n", "import os\nimport sys\n").replace("f(1)", "f(1, static=2)")
    expected = source.replace("import os\n", "import os\nimport sys\n").replace("f(1)", "f(1, static=2)")
    assert sources(found.rewritten(edited)) == [expected]


def test_a_comment_behind_ipython_syntax() -> None:
    found = notebook("%cd ..\nx = 1")
    edited = found.text.replace("pass  # %cd ..", "pass  # %cd ..  # jitlint: ignore[JIT101]")
    assert sources(found.rewritten(edited)) == ["%cd ..  # jitlint: ignore[JIT101]\nx = 1"]


def test_a_lost_separator_is_refused() -> None:
    found = notebook("x = 1", "y = 1")
    with pytest.raises(ValueError, match="cells"):
        found.rewritten("x = 1\ny = 1\n")


def test_a_cell_that_holds_a_separator_like_comment() -> None:
    found = notebook("# %% cell 9\nx = 1", "y = 1")
    assert found.rewritten(found.text) == found.document
    after = found.rewritten(found.text.replace("y = 1", "y = 2"))
    assert sources(after) == ["# %% cell 9\nx = 1", "y = 2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a notebook"),
        ("{", "not a notebook"),
        ("[]", "not a notebook of format 4"),
        ('{"worksheets": []}', "nbconvert"),
        ('{"cells": 3}', "not a notebook of format 4"),
        (document(cell("x"), kernelspec={"language": "julia"}), "a notebook in julia"),
        (document(cell("x"), language_info={"name": "R"}), "a notebook in r"),
        ('{"cells": [{"cell_type": "code", "source": 3}]}', "cell 1 is neither"),
        ('{"cells": ' + "[" * 100_000, "not a notebook"),
    ],
)
def test_what_is_no_notebook(text: str, message: str) -> None:
    with pytest.raises(Unparsable, match=message):
        parse_notebook(text)


@pytest.mark.parametrize(
    "metadata", [{}, {"kernelspec": {"language": "python"}}, {"language_info": {"name": "ipython"}}, {"kernelspec": 3}]
)
def test_python_notebooks(metadata: dict[str, Any]) -> None:
    assert parse_notebook(document(cell("x"), **metadata)).text == "# %% cell 1\nx\n"


def test_odd_cells_are_passed_over() -> None:
    assert parse_notebook('{"cells": [3, {"cell_type": "code"}, {"cell_type": "code", "source": "x"}]}').text == (
        "# %% cell 3\nx\n"
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_in_a_project(folder: Path) -> None:
    (folder / "util.py").write_text("def f(x): return x\n")
    (folder / "my book.ipynb").write_text(
        document(cell("import util\n%cd .."), cell("t", "markdown"), cell("util.f(1)"))
    )
    project = load_project(["my book.ipynb"], ConfigResolver())
    (module,) = project.modules
    assert (module.name, module.display) == ("my book", "my book.ipynb")
    assert module.notebook is not None
    assert [(statement.first_row, statement.kind) for statement in module.index.statements] == [
        (2, "import"),
        (3, "other"),
        (5, "other"),
    ]
    assert module.notebook.locate(5) == (3, 1)
    found = project.resolve(module, "util")
    assert found is not None
    assert found.display == "util.py"


def test_a_cell_that_does_not_parse_does_not_hide_the_others(folder: Path) -> None:
    text = document(cell("x = 1"), cell("y = 1\nz = ("), cell("%cd ..\nw = x"))
    (folder / "n.ipynb").write_text(text)
    project = load_project(["."], ConfigResolver())
    (fault,) = project.unreadable
    assert (fault.display, fault.cell, fault.row, fault.message) == ("n.ipynb", 2, 2, "'(' was never closed")
    (module,) = project.modules
    assert [name for statement in module.index.statements for name in statement.binds] == ["x", "w"]
    assert module.notebook is not None
    assert module.notebook.rewritten(module.text) == text
    after = module.notebook.rewritten(module.text.replace("w = x", "w = 2"))
    assert after == text.replace("w = x", "w = 2")


def test_an_overlay_is_a_module_text(folder: Path) -> None:
    (folder / "n.ipynb").write_text(document(cell("%cd ..\nx = 1"), cell("y = (")))
    (module,) = load_project(["."], ConfigResolver()).modules
    overlay = {"n.ipynb": module.text.replace("x = 1", "x = 2\nz = 3")}
    (again,) = load_project(["."], ConfigResolver(), overlay=overlay).modules
    assert again.text == overlay["n.ipynb"]
    assert again.notebook is not None
    assert sources(again.notebook.document) == ["%cd ..\nx = 2\nz = 3", "y = ("]


def test_a_notebook_from_standard_input(folder: Path) -> None:
    project = load_project([], ConfigResolver(), stdin=("n.ipynb", document(cell("x = 1"))))
    assert project.modules[0].text == "# %% cell 1\nx = 1\n"


def test_a_notebook_in_another_language_is_left_alone(folder: Path) -> None:
    (folder / "n.ipynb").write_text(document(cell("x <- 1"), kernelspec={"language": "R"}))
    project = load_project(["."], ConfigResolver())
    assert (project.modules, project.unreadable) == ((), ())
    assert [(skip.path.name, skip.reason) for skip in project.skipped] == [("n.ipynb", "a notebook in r")]


def test_a_broken_notebook_is_unreadable(folder: Path) -> None:
    (folder / "n.ipynb").write_text('{"cells":\n }')
    (fault,) = load_project(["."], ConfigResolver()).unreadable
    assert (fault.row, fault.column) == (2, 2)
    assert fault.message.startswith("not a notebook")


LINES = st.sampled_from(
    ["x = 1", "%cd ..", "!ls", "f?", "y = '''", "'''", "(", ")", "%%time", "é", "a = !ls", "\\", "", "# %% cell 1"]
)


@given(st.lists(st.lists(LINES, max_size=5).map("\n".join), min_size=1, max_size=3), st.sampled_from([1, None]))
def test_any_notebook_comes_back_byte_for_byte(texts: list[str], indent: int | None) -> None:
    found = parse_notebook(document(*(cell(text) for text in texts), indent=indent))
    found, _ = found.without_faulty_cells()
    assert found.rewritten(found.text) == found.document
    for one in found.cells:
        assert len(split_rows(one.text)) == len(split_rows(one.source))
