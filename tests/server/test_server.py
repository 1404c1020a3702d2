"""The language server, as a client sees it that talks to the real program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from tests.cli.programs import BRANCH, BROKEN, CLEAN, FLAG
from tests.server.editor import Diagnostics, Editor, in_editor


def codes(diagnostics: Diagnostics) -> list[str]:
    return [str(each.code) for each in diagnostics]


def fixed(folder: Path, name: str, text: str, *options: str) -> str:
    """What ``jitlint check --fix`` makes of a text."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    subprocess.run([sys.executable, "-m", "jitlint", "check", "--fix", name, *options], cwd=folder, capture_output=True)
    return (folder / name).read_text()


def test_what_is_typed_is_diagnosed(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open("a.py", CLEAN)
        assert await editor.diagnostics("a.py") == []
        editor.change("a.py", BRANCH)
        [found] = await editor.diagnostics("a.py")
        assert (found.code, found.source, found.severity) == ("JIT101", "jitlint", types.DiagnosticSeverity.Warning)
        assert found.range == types.Range(types.Position(5, 7), types.Position(5, 12))
        [jitted, *_] = found.related_information or ()
        assert jitted.location.uri == editor.uri("a.py")
        assert found.code_description is not None
        page = Path(found.code_description.href.removeprefix("file://"))
        assert page.read_text().startswith("# JIT101: traced-branch\n")
        editor.change("a.py", CLEAN)
        assert await editor.diagnostics("a.py") == []
        editor.close("a.py")
        await editor.diagnostics_at(editor.uri("a.py"), lambda each: each == [])

    in_editor(tmp_path, session)
    assert list(tmp_path.iterdir()) == []


def test_columns_are_counted_as_the_client_does(tmp_path: Path) -> None:
    text = BRANCH.replace("if x > 0:", "if ('😀', x > 0)[1]:\x0c")

    async def session(editor: Editor) -> None:
        editor.open("a.py", text)
        [found] = await editor.diagnostics("a.py")
        assert found.range.start == types.Position(5, 7)
        assert found.range.end.character == 7 + len("('😀', x > 0)[1]".encode("utf-16-le")) // 2
        assert "`x > 0`: **maybe traced**" in await editor.hover("a.py", 6, 7 + len("('😀',  > ") + 2)

    in_editor(tmp_path, session)


def test_a_broken_file_is_one_diagnostic_and_gets_well_again(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open("a.py", BROKEN)
        assert codes(await editor.diagnostics("a.py")) == ["JIT900"]
        assert await editor.hover("a.py", 1, 1) == ""
        assert await editor.hints("a.py") == []
        editor.change("a.py", BRANCH)
        assert codes(await editor.diagnostics("a.py")) == ["JIT101"]

    in_editor(tmp_path, session)


@pytest.mark.parametrize("text", [b"x = 1\0\n".decode(), "x = " + "[" * 2000 + "]" * 2000 + "\n", "", "\ud800"])
def test_a_hostile_text_harms_nobody(text: str, tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        if "\ud800" not in text:  # which no client can send
            editor.open("hostile.py", text)
            await editor.diagnostics("hostile.py")
        editor.open("a.py", BRANCH)
        assert codes(await editor.diagnostics("a.py")) == ["JIT101"]

    in_editor(tmp_path, session)


def test_a_quick_fix_makes_the_text_that_fix_makes(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open("a.py", FLAG)
        [found] = await editor.diagnostics("a.py")
        repair, ignore, everything = await editor.repairs("a.py", found)
        wanted = fixed(tmp_path / "cli", "a.py", FLAG)
        assert repair.is_preferred
        assert list(repair.diagnostics or ()) == [found]
        assert editor.applied_to(repair.edit) == {editor.uri("a.py"): wanted}
        assert everything.edit is None
        assert editor.applied_to((await editor.resolve(everything)).edit) == {editor.uri("a.py"): wanted}
        ignored = editor.applied_to(ignore.edit)[editor.uri("a.py")]
        assert "if training:  # jitlint: ignore[JIT102]\n" in ignored
        editor.change("a.py", ignored)
        assert await editor.diagnostics("a.py") == []
        editor.change("a.py", wanted)
        assert await editor.diagnostics("a.py") == []

    in_editor(tmp_path, session)


def test_an_unsafe_fix_says_so_and_is_not_preferred(tmp_path: Path) -> None:
    text = BRANCH.replace("    return -x", "    else:\n        return -x")

    async def session(editor: Editor) -> None:
        editor.open("a.py", text)
        [found] = await editor.diagnostics("a.py")
        repair = (await editor.repairs("a.py", found))[0]
        assert "unsafe" in repair.title
        assert not repair.is_preferred
        wanted = fixed(tmp_path / "cli", "a.py", text, "--unsafe-fixes")
        assert editor.applied_to(repair.edit) == {editor.uri("a.py"): wanted}
        assert wanted != text

    in_editor(tmp_path, session)


def test_line_ends_stay_in_a_fix(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open("a.py", FLAG.replace("\n", "\r\n"))
        [found] = await editor.diagnostics("a.py")
        repair = (await editor.repairs("a.py", found))[0]
        text = editor.applied_to(repair.edit)[editor.uri("a.py")]
        assert text.count("\n") == text.count("\r\n")
        assert text.replace("\r\n", "\n") == fixed(tmp_path / "cli", "a.py", FLAG)

    in_editor(tmp_path, session)


def test_clients_that_resolve_nothing_get_an_edit_or_a_command(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open("a.py", FLAG)
        [found] = await editor.diagnostics("a.py")
        [everything] = await editor.repairs("a.py", found, only=[types.CodeActionKind.SourceFixAll])
        wanted = {editor.uri("a.py"): fixed(tmp_path / "cli", "a.py", FLAG)}
        assert editor.applied_to(everything.edit) == wanted
        command = (await editor.actions("a.py", found))[-1]
        assert isinstance(command, types.Command)
        await editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams(command.command, arguments=list(command.arguments or ()))
        )
        [applied] = editor.applied
        assert editor.applied_to(applied) == wanted

    in_editor(tmp_path, session, resolves=False)


MODEL = """\
def loss(x, training):
    if training:
        return x
    return -x
"""

TRAIN = """\
import jax

from model import loss


@jax.jit
def step(x, training: bool):
    return loss(x, training)


for size in (1, 2, 3):
    step(1.0, training=True)
"""


def test_other_files_count_saved_or_not(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "model.py").write_text(MODEL)

    async def session(editor: Editor) -> None:
        editor.open("model.py", MODEL)
        [found] = await editor.diagnostics("model.py")
        assert found.code == "JIT102"
        repair = (await editor.repairs("model.py", found))[0]
        [(uri, text)] = editor.applied_to(repair.edit).items()
        assert uri == editor.uri("train.py")
        assert 'static_argnames=("training",)' in text
        before = editor.said(editor.uri("model.py"))
        editor.open("train.py", TRAIN)
        editor.change("train.py", text)
        assert await editor.diagnostics("train.py") == []
        assert await editor.again("model.py", before) == []
        before = editor.said(editor.uri("model.py"))
        editor.close("train.py")
        editor.tell_of("train.py")
        assert codes(await editor.again("model.py", before)) == ["JIT102"]

    in_editor(tmp_path, session)


def test_hover_says_what_is_traced_and_why(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "model.py").write_text(MODEL)

    async def session(editor: Editor) -> None:
        editor.open("model.py", MODEL)
        told = await editor.hover("model.py", 2, 9)
        assert "`training`: **traced" in told
        assert "an argument of `step`, jitted here (train.py:6)" in told
        editor.open("train.py", TRAIN)
        assert "`size`: **static" in await editor.hover("train.py", 11, 5)
        assert "compiled for **exactly 1 program**" in await editor.hover("train.py", 6, 3)
        assert await editor.hover("train.py", 2, 1) == ""

    in_editor(tmp_path, session)


def test_hints_count_programs(tmp_path: Path) -> None:
    text = """\
import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    return x + 1


@jax.jit
def unused(x):
    return x


for size in (1, 2, 3):
    f(jnp.zeros(size))
"""

    async def session(editor: Editor) -> None:
        editor.open("a.py", text)
        assert await editor.hints("a.py") == [(5, "exactly 3 programs")]
        editor.change("a.py", text.replace("zeros(size)", "zeros(3)"))
        assert await editor.hints("a.py") == [(5, "exactly 1 program")]

    in_editor(tmp_path, session)


def test_a_configuration_that_changes_counts_at_once(tmp_path: Path) -> None:
    config = tmp_path / "jitlint.toml"

    async def session(editor: Editor) -> None:
        editor.open("a.py", BRANCH)
        assert codes(await editor.diagnostics("a.py")) == ["JIT101"]
        before = editor.said(editor.uri("a.py"))
        config.write_text('ignore = ["JIT101"]\n')
        editor.tell_of("jitlint.toml")
        assert await editor.again("a.py", before) == []
        config.write_text('ignroe = ["JIT101"]\n')
        editor.tell_of("jitlint.toml")
        assert "`ignore`" in await editor.message()
        config.unlink()
        before = editor.said(editor.uri("a.py"))
        editor.tell_of("jitlint.toml")
        assert codes(await editor.again("a.py", before)) == ["JIT101"]

    in_editor(tmp_path, session)


@pytest.mark.parametrize("pulls", [True, False])
def test_settings_of_the_editor(pulls: bool, tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open("a.py", BRANCH)
        assert await editor.diagnostics("a.py") == []
        assert "did you mean inlayHints?" in await editor.message()
        before = editor.said(editor.uri("a.py"))
        editor.settings = {"options": {"min-severity": "warning"}}
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"jitlint": editor.settings})
        )
        assert codes(await editor.again("a.py", before)) == ["JIT101"]

    in_editor(tmp_path, session, settings={"ignore": ["JIT101"], "inlayHint": True}, pulls=pulls)


def test_excluded_files_are_left_alone(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(".venv/a.py", BRANCH)
        assert await editor.diagnostics(".venv/a.py") == []

    in_editor(tmp_path, session)


def test_an_unused_ignore_is_faded_and_goes(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open("a.py", CLEAN.replace("x + 1", "x + 1  # jitlint: ignore[JIT101]"))
        [found] = await editor.diagnostics("a.py")
        assert list(found.tags or ()) == [types.DiagnosticTag.Unnecessary]
        repair = (await editor.repairs("a.py", found))[0]
        assert editor.applied_to(repair.edit) == {editor.uri("a.py"): CLEAN}

    in_editor(tmp_path, session)


def test_notebooks_are_diagnosed_by_cell(tmp_path: Path) -> None:
    setup, use = FLAG.split("\n\n\ng(")
    sources = ["%matplotlib inline\nimport numpy as np", "# text", setup, "g(" + use]
    kinds = [types.NotebookCellKind.Code, types.NotebookCellKind.Markup, *[types.NotebookCellKind.Code] * 2]

    async def session(editor: Editor) -> None:
        uri = editor.uri("nb.ipynb")
        cells = [types.NotebookCell(kind, f"{uri}#c{number}") for number, kind in enumerate(kinds)]
        texts = [
            types.TextDocumentItem(
                cell.document, "python" if cell.kind is types.NotebookCellKind.Code else "markdown", 1, source
            )
            for cell, source in zip(cells, sources, strict=True)
        ]
        notebook = types.NotebookDocument(uri, "jupyter-notebook", 1, cells)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, texts))
        [found] = await editor.diagnostics_at(f"{uri}#c2", lambda each: bool(each))
        assert (found.code, found.range.start) == ("JIT102", types.Position(5, 7))
        for other in ("#c0", "#c3"):
            await editor.diagnostics_at(uri + other, lambda each: each == [])
        cell = types.TextDocumentIdentifier(f"{uri}#c2")
        actions = await editor.client.text_document_code_action_async(
            types.CodeActionParams(cell, found.range, types.CodeActionContext([found]))
        )
        assert actions
        repair = actions[0]
        assert isinstance(repair, types.CodeAction)
        assert repair.edit is not None
        made = {
            change.text_document.uri: "".join(
                edit.new_text for edit in change.edits if isinstance(edit, types.TextEdit)
            )
            for change in repair.edit.document_changes or ()
            if isinstance(change, types.TextDocumentEdit)
        }
        assert made.keys() == {f"{uri}#c0", f"{uri}#c2"}
        assert "import functools" in made[f"{uri}#c0"]
        assert "static_argnames" in made[f"{uri}#c2"]
        told = await editor.client.text_document_hover_async(types.HoverParams(cell, types.Position(5, 8)))
        assert told is not None
        assert "`training`: **traced" in str(told.contents)

    in_editor(tmp_path, session)
