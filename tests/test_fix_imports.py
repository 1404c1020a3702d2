"""Missing imports go where isort would put them, and nothing else moves."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitlint.findings import Edit, NewImport
from jitlint.fix.imports import add_imports, import_edits
from jitlint.fix.text import Lines

MATH = NewImport("a.py", "math")
FUNCTOOLS = NewImport("a.py", "functools")
PARTIAL = NewImport("a.py", "functools", "partial")
JAX = NewImport("a.py", "jax")


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        pytest.param("", MATH, "import math\n", id="empty file"),
        pytest.param("x = 1\n", MATH, "import math\n\nx = 1\n", id="no imports"),
        pytest.param("@f\ndef g(): ...\n", MATH, "import math\n\n\n@f\ndef g(): ...\n", id="before a decorator"),
        pytest.param("def g(): ...", MATH, "import math\n\n\ndef g(): ...", id="no newline at the end"),
        pytest.param('"""Doc."""\n\nx = 1\n', MATH, '"""Doc."""\n\nimport math\n\nx = 1\n', id="docstring"),
        pytest.param('"""Doc."""\nx = 1\n', MATH, '"""Doc."""\n\nimport math\n\nx = 1\n', id="docstring and no gap"),
        pytest.param('"""Doc."""', MATH, '"""Doc."""\n\nimport math', id="only a docstring"),
        pytest.param('"""Doc\n\nmore"""; x = 1\n', MATH, '"""Doc\n\nmore"""; x = 1\n\nimport math\n', id="shared row"),
        pytest.param(
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nx = 1\n",
            MATH,
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport math\n\nx = 1\n",
            id="shebang and encoding stay first",
        ),
        pytest.param(
            "# licence\n\n# about x\nx = 1\n",
            MATH,
            "# licence\n\nimport math\n\n# about x\nx = 1\n",
            id="a comment stays with its statement",
        ),
        pytest.param(
            "from __future__ import annotations\n\nimport jax\n",
            FUNCTOOLS,
            "from __future__ import annotations\n\nimport functools\n\nimport jax\n",
            id="future first",
        ),
        pytest.param(
            "import jax\nimport numpy as np\n",
            FUNCTOOLS,
            "import functools\n\nimport jax\nimport numpy as np\n",
            id="standard library before the rest",
        ),
        pytest.param(
            "import abc\nimport os\nfrom typing import Any\n\nimport jax\n",
            FUNCTOOLS,
            "import abc\nimport functools\nimport os\nfrom typing import Any\n\nimport jax\n",
            id="in the order of its section",
        ),
        pytest.param(
            "import os  # noqa\n\nimport jax\n",
            PARTIAL,
            "import os  # noqa\nfrom functools import partial\n\nimport jax\n",
            id="from imports behind plain ones",
        ),
        pytest.param("import os\n\nx = 1\n", JAX, "import os\n\nimport jax\n\nx = 1\n", id="third party behind"),
        pytest.param("import os\nx = 1\n", JAX, "import os\n\nimport jax\n\nx = 1\n", id="no gap below the imports"),
        pytest.param("from . import a\n", JAX, "import jax\n\nfrom . import a\n", id="before relative imports"),
        pytest.param(
            "import os; x = (1,\n2)\nimport jax\n",
            MATH,
            "import math\nimport os; x = (1,\n2)\nimport jax\n",
            id="a row with two statements",
        ),
        pytest.param(
            "from functools import wraps\n", PARTIAL, "from functools import partial, wraps\n", id="merged, in order"
        ),
        pytest.param(
            "from functools import cache\n", PARTIAL, "from functools import cache, partial\n", id="merged at the end"
        ),
        pytest.param(
            "from functools import wraps, cache\n",
            PARTIAL,
            "from functools import wraps, cache, partial\n",
            id="merged into an unsorted list",
        ),
        pytest.param(
            "from functools import (\n    cache,\n    wraps,  # w\n)\n",
            PARTIAL,
            "from functools import (\n    cache,\n    partial,\n    wraps,  # w\n)\n",
            id="merged, one a line",
        ),
        pytest.param(
            "from functools import (\n    cache,\n)\n",
            PARTIAL,
            "from functools import (\n    cache,\n    partial,\n)\n",
            id="merged as the last line",
        ),
        pytest.param(
            "from functools import wraps as é, cmp_to_key\n",
            PARTIAL,
            "from functools import wraps as é, cmp_to_key, partial\n",
            id="columns are characters",
        ),
        pytest.param(
            "from functools import *\n",
            PARTIAL,
            "from functools import *\nfrom functools import partial\n",
            id="a star is not merged into",
        ),
        pytest.param(
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import math\n",
            MATH,
            "import math\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import math\n",
            id="an import for type checkers is none",
        ),
        pytest.param(
            "if True:\n    from functools import wraps\nx = 1\n",
            PARTIAL,
            "from functools import partial\n\nif True:\n    from functools import wraps\nx = 1\n",
            id="not merged inside a block",
        ),
        pytest.param(
            "import jax\nf = jax.jit(g)\nimport os\n",
            MATH,
            "import math\n\nimport jax\nf = jax.jit(g)\nimport os\n",
            id="before the first use",
        ),
        pytest.param("import jax\r\n", MATH, "import math\r\n\r\nimport jax\r\n", id="line endings"),
    ],
)
def test_where_it_goes(before: str, new: NewImport, after: str) -> None:
    assert add_imports(before, [new]) == after
    ast.parse(after)
    assert add_imports(after, [new]) == after


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("import math\n", MATH),
        ("import os, math\n", MATH),
        ("x = 1\nimport math\n", MATH),
        ("import jax.numpy\n", JAX),
        ("from functools import partial\n", PARTIAL),
        ("from functools import wraps, partial as partial\n", PARTIAL),
    ],
)
def test_what_is_there_is_not_added(text: str, new: NewImport) -> None:
    assert add_imports(text, [new]) == text
    assert import_edits("a.py", text, [new]) == ()


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("import math as m\n", MATH),
        ("import jax.numpy as jnp\n", JAX),
        ("from functools import partial as p\n", PARTIAL),
    ],
)
def test_another_name_is_not_the_import(text: str, new: NewImport) -> None:
    assert add_imports(text, [new]) != text


def test_a_file_that_does_not_parse_is_a_syntax_error() -> None:
    for text in ("x = (\n", "x = '\0'\n", "x = " + "(" * 5000):
        with pytest.raises(SyntaxError):
            add_imports(text, [MATH])


lines = st.sampled_from(
    [
        "import os",
        "import jax",
        "import jax.numpy as jnp",
        "from functools import wraps",
        "from functools import (\n    cache,\n    reduce\n)",
        "from . import sibling",
        "if TYPE_CHECKING:\n    import math",
        "try:\n    import functools\nexcept ImportError:\n    pass",
        "# a comment",
        "",
        "x = 1; y = '''\n'''",
        "def f():\n    import math",
    ]
)
imports = st.lists(st.sampled_from([MATH, FUNCTOOLS, PARTIAL, JAX]), max_size=4)


@given(st.lists(lines, max_size=8), imports, st.booleans())
def test_any_file_keeps_its_statements_and_gains_the_imports(rows: list[str], new: list[NewImport], end: bool) -> None:
    text = "\n".join(rows) + "\n" * end
    after = add_imports(text, new)
    assert add_imports(after, new) == after
    before_nodes = {ast.dump(node) for node in ast.parse(text).body if not isinstance(node, ast.ImportFrom)}
    after_nodes = {ast.dump(node) for node in ast.parse(after).body}
    assert before_nodes <= after_nodes
    namespace_names = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.parse(after).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {item.name or item.module for item in new} <= namespace_names


@given(st.lists(lines, max_size=8), imports)
def test_the_edits_give_the_same_text(rows: list[str], new: list[NewImport]) -> None:
    text = "\n".join(rows)
    edits = import_edits("a.py", text, new)
    assert len(edits) <= 1
    for edit in edits:
        assert isinstance(edit, Edit)
        start, end = Lines(text).range(edit.span)
        text = text[:start] + edit.text + text[end:]
    assert text == add_imports("\n".join(rows), new)
