"""What an edit costs in a warm language server: CPU seconds from a changed text to its diagnostics.

    python benchmarks/server.py                     # a made-up program of 1,000 lines
    python benchmarks/server.py FOLDER FILE…        # files of a project, each opened and then edited
    python benchmarks/server.py --client            # the same through the protocol, with a real client

The server has seen another file before; each file is opened, and then edited again and again, a function at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

EDITS = 5


def program(lines: int) -> str:
    """A training program of about so many lines: settings, helpers, jitted steps, loops that call them."""
    parts = ["import functools\n\nimport jax\nimport jax.numpy as jnp\n"]
    number = 0
    while sum(part.count("\n") for part in parts) < lines:
        number += 1
        parts.append(
            f'''

def layer_{number}(params, x, training):
    h = x @ params["w"] + params["b"]
    mean, scale = h.mean(axis=0), h.std(axis=0) + 1e-6
    h = (h - mean) / scale
    if training:
        h = h * 0.9
    for width in range(3):
        h = h + width
    return jnp.where(h > 0, h, 0.1 * h)


@functools.partial(jax.jit, static_argnames=("training",))
def step_{number}(params, x, y, training):
    def loss(params):
        return ((layer_{number}(params, x, training) - y) ** 2).mean()

    value, grads = jax.value_and_grad(loss)(params)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def run_{number}(batches):
    params = {{"w": jnp.zeros((8, 8)), "b": jnp.zeros(8)}}
    total = 0.0
    for x, y in batches:
        value, params = step_{number}(params, x, y, training=True)
        total += float(value)
    return params, total
'''
        )
    return "".join(parts)


def edited(text: str, turn: int) -> str:
    """The text with a statement more in one of its functions, another one each turn."""
    rows = text.splitlines(keepends=True)
    heads = [number for number, row in enumerate(rows) if row.startswith("def ") and row.rstrip().endswith(":")]
    if not heads:
        return f"{text}\nx_{turn} = {turn}\n"
    at = heads[turn % len(heads)] + 1
    return "".join([*rows[:at], f"    unused_{turn} = {turn}\n", *rows[at:]])


def in_process(root: Path, file: Path) -> Iterator[float]:
    """CPU seconds of the analysis of a file that is opened, then of one after each edit."""
    from jitlint.server.documents import Document
    from jitlint.server.options import Options
    from jitlint.server.run import Folder, tidy

    folder = Folder(root)
    other = root / "warm.py"
    folder.check(Document(other.as_uri(), other, "import jax\n", 0), {}, Options(), lambda: False)
    text = file.read_text()
    for turn in range(EDITS + 1):
        document = Document(file.as_uri(), file, edited(text, turn) if turn else text, turn)
        start = time.process_time()
        folder.check(document, {}, Options(), lambda: False)
        yield time.process_time() - start
        tidy()


def through_the_protocol(root: Path, file: Path) -> list[float]:
    """The same of the server process: from what is sent to what is published."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.server.editor import Editor

    async def session() -> list[float]:
        editor = Editor(root)
        await editor.start()
        process = editor.client._server
        assert process is not None
        name, text, seconds = str(file.relative_to(root)), file.read_text(), []
        editor.open("warm.py", "import jax\n")
        await editor.diagnostics("warm.py")
        await asyncio.sleep(1.0)
        before = _cpu_of(process.pid)
        for turn in range(EDITS + 1):
            if turn == 0:
                editor.open(name, text)
            else:
                editor.change(name, edited(text, turn))
            await editor.diagnostics(name)
            now = _cpu_of(process.pid)
            seconds.append(now - before)
            await asyncio.sleep(1.0)  # what it tidies up belongs to nobody's waiting
            before = _cpu_of(process.pid)
        await editor.stop()
        return seconds

    return asyncio.run(session())


def _cpu_of(pid: int) -> float:
    """CPU seconds of a process so far; Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main() -> None:
    """Measure, and print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--client", action="store_true", help="through the protocol")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root, files = options.folder, options.files
        if root is None:
            root = Path(scratch)
            files = [root / "train.py"]
            files[0].write_text(program(1000))
        for file in files:
            measure = through_the_protocol if options.client else in_process
            cold, *warm = measure(root.resolve(), file.resolve())
            lines = file.read_text().count("\n")
            print(f"{file.name}: {lines} lines, opened {cold:.2f} s, edited {statistics.median(warm):.2f} s of CPU")


if __name__ == "__main__":
    main()
