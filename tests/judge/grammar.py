"""Random small programs around one traced function, for the property test against JAX.

A program is built from typed expressions, so that it hardly ever fails for reasons of its own: what can fail is a
traced value where Python needs a concrete one. Nothing here knows what is traced; JAX decides.

Types: ``num`` (a scalar), ``int``, ``flag``, ``vec`` (float32 of shape 3), ``pair`` (tuple of two nums), ``nums`` (a
list of nums, never empty), ``params`` (dict of ``w``: vec and ``b``: num), ``state`` (NamedTuple of ``pos``: vec and
``step``: int), ``opt`` (num or None), ``mode`` (a string). Each may be traced or not, depending on where it came from.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.judge.grammar_header import HEADER

ARGUMENTS: dict[str, Sequence[str]] = {
    "num": ("0.5", "jnp.float32(0.5)", "jnp.float32(-2.0)", "2.0"),
    "int": ("2", "1", "jnp.int32(2)", "3"),
    "flag": ("True", "False", "jnp.bool_(True)"),
    "vec": ("jnp.array([3.0, 1.0, 2.0])", "jnp.ones(3)"),
    "pair": ("(0.5, 1.5)", "(jnp.float32(0.5), 2.0)"),
    "nums": ("[0.5, 1.5]", "[jnp.float32(1.0), jnp.float32(2.0), jnp.float32(3.0)]"),
    "params": ('{"w": jnp.ones(3), "b": jnp.float32(0.5)}',),
    "state": ("State(jnp.ones(3), 1)", "State(jnp.zeros(3), jnp.int32(0))"),
    "opt": ("None", "0.5", "jnp.float32(0.5)"),
    "mode": ('"sum"', '"mean"'),
}
"""What a caller passes for each type."""

STATIC_ARGUMENTS: dict[str, Sequence[str]] = {
    "num": ("0.5", "2.0"),
    "int": ("2", "3"),
    "flag": ("True", "False"),
    "pair": ("(0.5, 1.5)",),
    "opt": ("None", "0.5"),
    "mode": ('"sum"', '"mean"'),
}
"""What can be passed as a static argument, which also are defaults."""

_TRANSFORMS = ("lambda", "cond", "fori", "grad", "scan", "vmap", "while", "jit", "checkpoint", "switch", "tree", "none")

_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Tuple, ast.ListComp)
"""Expressions that need no parentheses as part of another (tuples are written with theirs)."""

RESULTS = ("num", "num", "vec", "pair", "params", "flag")


@dataclass
class Parameter:
    """A parameter of a generated function."""

    name: str
    type: str
    default: str | None = None
    static: bool = False


@dataclass
class Function:
    """A function that generated code can call."""

    name: str
    parameters: list[str]
    result: str


Names = dict[str, str]
"""The variables in sight: type by name."""


@dataclass
class Generator:
    """Builds one program; the same seed gives the same text."""

    random: random.Random
    helpers: list[Function] = field(default_factory=list)
    counter: int = 0
    locked: frozenset[str] = frozenset()
    """Variables of an enclosing function, which may not be rebound here: Python would take them for locals."""
    loops: int = 0
    """How many loops enclose the place: no more than two, or programs get slow."""

    # Choices.

    def pick(self, options: Sequence[Callable[[], str]]) -> str:
        return self.random.choice(options)()

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    # Expressions.

    def expr(self, type_: str, names: Names, depth: int = 2) -> str:
        """An expression of a type; deeper ones are made of simpler ones."""
        known = [name for name, of in names.items() if of == type_]
        if known and (depth <= 0 or self.chance(0.45)):
            return self.random.choice(known)
        if depth <= 0:
            return self.leaf(type_, names)
        made: str = getattr(self, f"_{type_}")(names, depth - 1)
        return made if isinstance(ast.parse(made, mode="eval").body, _ATOMS) else f"({made})"

    def leaf(self, type_: str, names: Names) -> str:
        """An expression without parts."""
        known = [name for name, of in names.items() if of == type_]
        if known and self.chance(0.8):
            return self.random.choice(known)
        vectors = [name for name, of in names.items() if of == "vec"]
        match type_:
            case "num":
                return self.random.choice(["1.0", "0.5", "2.0", "-1.5", "GAIN", "BIAS", "TABLE[1]"])
            case "int":
                shapes = [f"{name}.shape[0]" for name in vectors] + [f"len({name})" for name in vectors]
                return self.random.choice(["0", "1", "2", "3", "len(SIZES)", *shapes])
            case "flag":
                return self.random.choice(["True", "False", *(f"{name}.ndim == 1" for name in vectors)])
            case "vec":
                return self.random.choice(["jnp.ones(3)", "jnp.arange(3.0)", "jnp.zeros(3)", "jnp.array(TABLE)"])
            case "pair":
                return "(1.0, 2.0)"
            case "nums":
                return "[1.0, 2.0]"
            case "params":
                return '{"w": jnp.ones(3), "b": 0.5}'
            case "state":
                return "State(jnp.ones(3), 0)"
            case "mode":
                return self.random.choice(['"sum"', '"mean"'])
        return self.random.choice(["None", "0.5"])

    def _num(self, names: Names, depth: int) -> str:
        def e(type_: str) -> str:
            return self.expr(type_, names, depth)

        arithmetic = [
            lambda: f"({e('num')} {self.random.choice('+-*')} {e('num')})",
            lambda: f"-{e('num')}",
            lambda: f"abs({e('num')})",
            lambda: f"{e('num')} / 2.0",
            lambda: f"{e('vec')}.{self.random.choice(['sum', 'mean', 'max'])}()",
            lambda: f"{e('vec')}[{self.random.choice('012')}]",
            lambda: f'{e("params")}["b"]',
            lambda: f"{e('pair')}[{self.random.choice('01')}]",
            lambda: f"sum({e('nums')})",
            lambda: f"{e('state')}.pos[0]",
            lambda: f"jnp.{self.random.choice(['sin', 'tanh', 'abs', 'square'])}({e('num')})",
            lambda: f"jnp.where({e('flag')}, {e('num')}, {e('num')})",
            lambda: f"jnp.maximum({e('num')}, {e('num')})",
            lambda: f"np.sum({e('vec')})",
            lambda: f"Scaler({e('num')}, {self.random.choice('12')}).apply({e('num')})",
            lambda: f"Scaler({e('num')}, 2).double",
            lambda: f"Gains({e('num')}, {e('num')}{self.random.choice(['', ', 0', ', 2'])}).total()",
            lambda: f"jnp.sum(jax.tree.leaves({e('params')})[{self.random.choice('01')}])",
            lambda: f"lax.select({e('flag')}, jnp.float32({e('num')}), jnp.float32({e('num')}))",
            lambda: f"functools.reduce(lambda p, q: p + q, {e('nums')})",
            lambda: f"jnp.float32({e('num')}).sum()",
        ]
        of_header = [
            lambda: f"scaled({e('num')})",
            lambda: f"scaled({e('num')}, {e('num')})",
            lambda: f"scaled({e('num')}, clip={self.optional(names)})",
            lambda: f"scaled({e('num')}, mode={self.leaf('mode', names)})",
            lambda: f"total({e('num')}, {e('num')}, last={e('num')})",
            lambda: f"total(*{e('nums')})",
            lambda: f"jnp.sum(total(**{e('params')}))" if self.chance(0.3) else f"total(skipped={e('num')})",
            lambda: f"sum(steps({e('num')}))",
            lambda: f"power({e('num')}, {e('int')})",
            lambda: f"halved({e('num')})",
            lambda: f"checked({e('num')})",
            lambda: f"first_positive({e('nums')})",
            lambda: f"best_of({e('pair')})",
            lambda: f"curried({e('num')})({e('num')})",
            lambda: f"partial(scaled, factor={e('num')})({e('num')})",
            lambda: f"jitted_power({e('num')}, {self.random.choice(['2', e('int')])})",
            lambda: f"{self.random.choice(['Layer', 'Clipped', 'Smooth'])}({e('num')})({e('num')})",
            lambda: f"Smooth({e('num')}, {e('int')})({e('num')})",
            lambda: f"OPERATIONS[{self.leaf('mode', names)}]({e('num')})",
            lambda: f"softened({e('num')})",
            lambda: f"(GAIN if Layer.positive else {e('num')})",
            lambda: "CONFIG['rate'] * ".replace("'", '"') + e("num"),
        ]
        decided = [
            lambda: f"({e('num')} if {e('flag')} else {e('num')})",
            lambda: f"{self.random.choice(['max', 'min'])}({e('num')}, {e('num')})",
            lambda: f"{e('nums')}[0]",
            lambda: self.indexed(names, depth),
            lambda: f"(0.0 if {self.optional(names)} is None else {self.optional(names)})",
            lambda: f"({self.optional(names)} or 1.0)",
        ]
        converted = [
            lambda: f"float({e('num')})",
            lambda: f"math.sin({e('num')})",
            lambda: f"np.sin({e('num')})",
            lambda: f"jnp.asarray({e('num')}).item()",
            lambda: f"round({e('num')}, 2)",
            lambda: f"float({e('vec')}.ndim)",
            lambda: f"np.float32({e('int')})",
            lambda: f'float(f"{{{self.name_or(names, "num")}:.2f}}")',
        ]
        sized = [
            lambda: f"jnp.zeros({e('int')}).sum()",
            lambda: f"jnp.full(({e('int')}, 2), {e('num')}).sum()",
            lambda: f"jnp.arange({e('int')}).sum()",
            lambda: f"{e('vec')}[:{e('int')}].sum()",
            lambda: f"lax.dynamic_slice({e('vec')}, ({e('int')},), (2,)).sum()",
            lambda: f"{e('vec')}[{e('int')}]",
            lambda: f"{e('vec')}[{e('vec')} > {e('num')}].sum()",
            lambda: f"jnp.repeat({e('vec')}, {e('int')}).sum()",
            lambda: f"jax.nn.one_hot(1, {e('int')}).sum()",
            lambda: f"jnp.stack([{e('vec')}, {e('vec')}]).sum(axis={e('int')} % 2)[0]",
            lambda: f"jax.random.normal(jax.random.key(0), ({e('int')},)).sum()",
            lambda: f"lax.top_k({e('vec')}, {self.random.choice('12')})[0][0]",
            lambda: f"SIZES[{e('int')} % 3]",
            lambda: f"jnp.split({e('vec')}, 3)[{self.random.choice('012')}].sum()",
        ]
        groups = [arithmetic, arithmetic, arithmetic, decided, converted, sized, of_header, of_header]
        groups += [[lambda: self.call("num", names, depth)]] * bool(self.helpers)
        groups += [[lambda: self.transformed(names, depth)]] * (depth > 0)
        return self.pick(self.random.choice(groups))

    def indexed(self, names: Names, depth: int) -> str:
        """An item of a list of known length, or of a dict with number keys."""
        index, item = self.expr("int", names, depth), self.expr("num", names, depth)
        if self.chance(0.5):
            return f"[{item}, 1.0, 2.0][{index} % 3]"
        return f"{{0: {item}, 1: 2.0}}.get({index}, 0.5)"

    def optional(self, names: Names) -> str:
        """A variable that may be None, or None itself."""
        known = [name for name, of in names.items() if of == "opt"]
        return self.random.choice(known) if known else "None"

    def name_or(self, names: Names, type_: str) -> str:
        """A variable of a type, or a leaf: what fits into an f-string."""
        text = self.leaf(type_, names)
        return text.replace('"', "'")

    def call(self, result: str, names: Names, depth: int) -> str:
        """A call of a helper with the result, or another expression."""
        fitting = [helper for helper in self.helpers if helper.result == result]
        if not fitting:
            return self.expr(result, names, depth)
        helper = self.random.choice(fitting)
        return f"{helper.name}({', '.join(self.expr(type_, names, depth) for type_ in helper.parameters)})"

    def transformed(self, names: Names, depth: int) -> str:
        """A call of a transform with a lambda."""
        a, i = self.fresh("a"), self.fresh("i")
        inner = f"jnp.float32({self.expr('num', {**names, a: 'num'}, depth)})"
        start = f"jnp.float32({self.expr('num', names, depth)})"
        match self.random.choice(_TRANSFORMS):
            case "lambda":
                return f"(lambda {a}: {inner})({self.expr('num', names, depth)})"
            case "cond":
                other = f"jnp.float32({self.expr('num', {**names, a: 'num'}, 0)})"
                return f"lax.cond({self.expr('flag', names, depth)}, lambda {a}: {inner}, lambda {a}: {other}, {start})"
            case "fori":
                body = f"jnp.float32({self.expr('num', {**names, a: 'num', i: 'int'}, depth)})"
                return f"lax.fori_loop(0, {self.expr('int', names, 0)}, lambda {i}, {a}: {body}, {start})"
            case "grad":
                return f"jax.grad(lambda {a}: {inner})({start})"
            case "scan":
                step = f"jnp.float32({self.expr('num', {**names, a: 'num', i: 'num'}, depth)})"
                return f"lax.scan(lambda {a}, {i}: ({step}, {i}), {start}, {self.expr('vec', names, 0)})[0]"
            case "vmap":
                return f"jax.vmap(lambda {a}: {inner})({self.expr('vec', names, 0)}).sum()"
            case "while":
                return f"lax.while_loop(lambda {a}: {a} < 1.0, lambda {a}: {a} + 1.0, {start})"
            case "switch":
                other = f"jnp.float32({self.expr('num', {**names, a: 'num'}, 0)})"
                branches = f"[lambda {a}: {inner}, lambda {a}: {other}]"
                return f"lax.switch({self.expr('int', names, 0)}, {branches}, {start})"
            case "tree":
                tree = self.expr("params", names, depth)
                return f'jax.tree.map(lambda {a}: {a} * {self.expr("num", names, 0)}, {tree})["b"]'
            case "none":
                mapped = f"lambda {i}, {a}: {i} * {inner}"
                return f"jax.vmap({mapped}, in_axes=(0, None))({self.expr('vec', names, 0)}, {start}).sum()"
            case "jit":
                return f"jax.jit(lambda {a}: {inner})({self.expr('num', names, depth)})"
        return f"jax.checkpoint(lambda {a}: {inner})({start})"

    def _int(self, names: Names, depth: int) -> str:
        def e(type_: str) -> str:
            return self.expr(type_, names, depth)

        return self.pick(
            [
                lambda: f"({e('int')} + {self.random.choice('123')}) % 4",
                lambda: f"({e('int')} * {e('int')}) % 4",
                lambda: f"len({e('nums')})",
                lambda: f"{e('vec')}.{self.random.choice(['shape[0]', 'ndim', 'size'])}",
                lambda: f"len({e('vec')})",
                lambda: f"jnp.argmax({e('vec')})",
                lambda: f"{e('state')}.step",
                lambda: f"int({e('num')}) % 4",
                lambda: f"({e('int')} if {e('flag')} else {e('int')})",
                lambda: f"min({e('int')}, {e('int')})",
                lambda: f"math.prod({e('vec')}.shape)",
                lambda: f"int(np.prod({e('vec')}.shape))",
                lambda: f"len({e('params')})",
                lambda: f"max(len(SIZES), {e('int')}) % 4",
                lambda: f"len(range({e('int')}))",
                lambda: f"sum(1 for _ in {e('nums')})",
                lambda: "CONFIG['depth']".replace("'", '"'),
                lambda: f"Gains(1.0, 2.0, {e('int')}).order",
                lambda: f"{e('vec')}.astype(jnp.int32)[0]",
                lambda: f"(Mode.FAST if {e('flag')} else Mode.SLOW).value",
            ]
        )

    def _flag(self, names: Names, depth: int) -> str:
        def e(type_: str) -> str:
            return self.expr(type_, names, depth)

        compare = [
            lambda: f"{e('num')} {self.random.choice(['<', '>', '<=', '>='])} {e('num')}",
            lambda: f"{e('num')} > {self.random.choice(['0', '1.0'])}",
            lambda: f"{e('int')} {self.random.choice(['==', '<', '!='])} {e('int')}",
            lambda: f"jnp.any({e('vec')} > 0)",
        ]
        known = [
            lambda: f"{e('vec')}.shape == (3,)",
            lambda: f"{e('vec')}.ndim {self.random.choice(['>', '=='])} {self.random.choice('01')}",
            lambda: f"{self.optional(names)} is {self.random.choice(['None', 'not None'])}",
            lambda: f"isinstance({e('num')}, {self.random.choice(['float', 'jax.Array', '(int, float)'])})",
            lambda: f"{self.name_or(names, 'mode')} == 'sum'".replace("'", '"'),
            lambda: f'"{self.random.choice(["w", "q"])}" in {e("params")}',
            lambda: f"{e('vec')}.dtype == jnp.float32",
            lambda: f"bool({e('nums')})",
            lambda: f"callable({e('num')})",
            lambda: f"hasattr({e('num')}, 'shape')".replace("'", '"'),
            lambda: f"isinstance({e('params')}, dict)",
            lambda: f"{e('nums')} is None",
            lambda: f"isinstance({e('num')}, jax.core.Tracer)",
        ]
        decided = [
            lambda: f"(not {e('flag')})",
            lambda: f"({e('flag')} and {e('flag')})",
            lambda: f"({e('flag')} or {e('flag')})",
            lambda: f"bool({e('num')})",
            lambda: f"0.0 < {e('num')} < 2.0",
            lambda: f"{e('int')} in (1, 2)",
            lambda: f"{self.random.choice(['any', 'all'])}([{e('flag')}, {e('flag')}])",
            lambda: f"any(a > 0 for a in {e('nums')})",
            lambda: f"np.any({e('vec')} > 1.0)",
            lambda: f"({e('num')} == {e('num')}) is True",
            lambda: f"next((a for a in {e('nums')} if a > 0), None) is None",
        ]
        return self.pick(self.random.choice([compare, compare, known, known, decided]))

    def _vec(self, names: Names, depth: int) -> str:
        def e(type_: str) -> str:
            return self.expr(type_, names, depth)

        item = self.fresh("e")
        return self.pick(
            [
                lambda: f"({e('vec')} {self.random.choice('+-*')} {e('vec')})",
                lambda: f"{e('vec')} * {e('num')}",
                lambda: f"jnp.{self.random.choice(['tanh', 'abs', 'exp'])}({e('vec')})",
                lambda: f'{e("params")}["w"]',
                lambda: f"{e('state')}.pos",
                lambda: f"jnp.array([{e('num')}, {e('num')}, 1.0])",
                lambda: f"jnp.where({e('vec')} > {e('num')}, {e('vec')}, 0.0)",
                lambda: f"({e('vec')} if {e('flag')} else {e('vec')})",
                lambda: f"{e('vec')}.at[{self.random.choice(['0', '1', e('int')])}].set({e('num')})",
                lambda: f"jnp.roll({e('vec')}, {e('int')})",
                lambda: f"TABLE * {e('vec')}",
                lambda: f"jnp.asarray(np.square({e('vec')}))",
                lambda: f"jax.vmap(lambda {item}: {self.expr('num', {**names, item: 'num'}, depth)})({e('vec')}) * 1.0",
                lambda: f"jnp.sort({e('vec')})",
                lambda: f"{e('vec')}.reshape({e('vec')}.shape)",
                lambda: self.call("vec", names, depth),
                lambda: f"jnp.stack({e('vec')}[::-1])",
                lambda: f"{e('vec')}[jnp.array([0, 2, 1])]",
                lambda: f"Layer({e('num')})({e('vec')})",
                lambda: f"Scaler({e('vec')}, {e('int')}).apply({e('num')})",
                lambda: f"lax.scan(lambda c, {item}: (c, c * {item}), 1.0, {e('vec')})[1]",
                lambda: f"jnp.clip({e('vec')}, 0.0, {e('num')})",
                lambda: f"jax.grad(lambda {item}: ({item} * {e('num')}).sum())({e('vec')})",
            ]
        )

    def _pair(self, names: Names, depth: int) -> str:
        return self.pick(
            [
                lambda: f"({self.expr('num', names, depth)}, {self.expr('num', names, depth)})",
                lambda: f"{self.expr('pair', names, depth)}[::-1]",
                lambda: self.call("pair", names, depth),
            ]
        )

    def _nums(self, names: Names, depth: int) -> str:
        item = self.fresh("e")
        inner = self.expr("num", {**names, item: "num"}, depth)
        return self.pick(
            [
                lambda: f"[{self.expr('num', names, depth)}, {self.expr('num', names, depth)}]",
                lambda: f"[{inner} for {item} in {self.expr('vec', names, depth)}]",
                lambda: f"[{inner} for {item} in {self.expr('nums', names, depth)}]",
                lambda: f"[1.0] + [{item} for {item} in {self.expr('nums', names, depth)} if {item} > 0.7]",
                lambda: f"list({self.expr('pair', names, depth)})",
                lambda: f"{self.expr('nums', names, depth)} + [{self.expr('num', names, depth)}]",
                lambda: f"sorted({self.expr('nums', names, depth)}, key=lambda {item}: {inner})",
                lambda: f"list(map(lambda {item}: {inner}, {self.expr('nums', names, depth)}))",
            ]
        )

    def _params(self, names: Names, depth: int) -> str:
        vec, num = self.expr("vec", names, depth), self.expr("num", names, depth)
        return self.pick(
            [
                lambda: f'{{"w": {vec}, "b": {num}}}',
                lambda: f'{{**{self.expr("params", names, depth)}, "b": {num}}}',
                lambda: f"jax.tree.map(lambda p: p * 2.0, {self.expr('params', names, depth)})",
                lambda: self.call("params", names, depth),
            ]
        )

    def _state(self, names: Names, depth: int) -> str:
        return self.pick(
            [
                lambda: f"State({self.expr('vec', names, depth)}, {self.expr('int', names, depth)})",
                lambda: f"{self.expr('state', names, depth)}._replace(step={self.expr('int', names, depth)})",
            ]
        )

    def _opt(self, names: Names, depth: int) -> str:
        return self.random.choice(["None", self.expr("num", names, depth)])

    def _mode(self, names: Names, depth: int) -> str:
        return self.leaf("mode", names)

    # Statements.

    def block(self, names: Names, length: int, nested: int = 0) -> list[str]:
        """Statements that may add to ``names``; what inner blocks add stays in them."""
        lines: list[str] = []
        for _ in range(length):
            lines += self.statement(names, nested)
        return lines or ["pass"]

    def statement(self, names: Names, nested: int) -> list[str]:
        """One statement, perhaps with blocks."""
        simple = [self.assign, self.assign, self.assign, self.assign, self.unpack, self.augment, self.checked]
        compound = [self.branch, self.branch, self.loop, self.local_function, self.matched, self.guarded, self.counted]
        if nested < 2 and self.chance(0.35):
            return self.random.choice(compound)(names, nested)
        return self.random.choice(simple)(names)

    def assign(self, names: Names) -> list[str]:
        type_ = self.random.choice(["num", "num", "int", "flag", "vec", "vec", "pair", "nums", "params", "state"])
        again = [name for name, of in names.items() if of == type_ and name not in self.locked]
        name = self.random.choice(again) if again and self.chance(0.4) else self.fresh(type_[0])
        value = self.expr(type_, names)
        names[name] = type_
        if type_ in ("num", "int") and self.chance(0.1):
            other = self.fresh("w")
            names[other] = type_
            return [f"{name} = ({other} := {value})"]
        return [f"{name} = {value}"]

    def unpack(self, names: Names) -> list[str]:
        first, second = self.fresh("n"), self.fresh("n")
        value = self.expr("pair", names)
        names.update({first: "num", second: "num"})
        return [f"{first}, {second} = {value}"]

    def augment(self, names: Names) -> list[str]:
        known = [name for name, of in names.items() if of in ("num", "vec") and name not in self.locked]
        if not known:
            return self.assign(names)
        return [f"{self.random.choice(known)} {self.random.choice('+-*')}= {self.expr('num', names)}"]

    def checked(self, names: Names) -> list[str]:
        lists = [name for name, of in names.items() if of == "nums"]
        if lists and self.chance(0.5):
            return [f"{self.random.choice(lists)}.append({self.expr('num', names)})"]
        dicts = [name for name, of in names.items() if of == "params"]
        if dicts and self.chance(0.5):
            return [f'{self.random.choice(dicts)}["b"] = {self.expr("num", names)}']
        return [f"assert {self.expr('flag', names)} or True"]

    def branch(self, names: Names, nested: int) -> list[str]:
        lines = [f"if {self.expr('flag', names)}:"]
        lines += indent(self.block(dict(names), self.random.randint(1, 2), nested + 1))
        if self.chance(0.3):
            lines += [f"elif {self.expr('flag', names)}:"]
            lines += indent(self.block(dict(names), 1, nested + 1))
        if self.chance(0.5):
            lines += ["else:", *indent(self.block(dict(names), 1, nested + 1))]
        return lines

    def loop(self, names: Names, nested: int) -> list[str]:
        if self.loops >= 2:
            return self.assign(names)
        item, other = self.fresh("k"), self.fresh("e")
        inner = dict(names)
        match self.random.choice(["range", "range", "vec", "zip", "items", "enumerate", "sizes"]):
            case "range":
                head = f"for {item} in range({self.expr('int', names, 1)}):"
                inner[item] = "int"
            case "vec":
                head = f"for {item} in {self.expr('vec', names, 1)}:"
                inner[item] = "num"
            case "zip":
                head = f"for {item}, {other} in zip({self.expr('vec', names, 1)}, {self.expr('nums', names, 1)}):"
                inner.update({item: "num", other: "num"})
            case "items":
                head = f"for {item}, {other} in {self.expr('params', names, 1)}.items():"
            case "enumerate":
                head = f"for {item}, {other} in enumerate({self.expr('nums', names, 1)}[:3]):"
                inner.update({item: "int", other: "num"})
            case _:
                head = f"for {item} in SIZES:"
                inner[item] = "int"
        self.loops += 1
        body = self.block(inner, self.random.randint(1, 2), nested + 1)
        self.loops -= 1
        if self.chance(0.2):
            body += [f"if {self.expr('flag', inner, 1)}:", f"    {self.random.choice(['break', 'continue'])}"]
        return [head, *indent(body)]

    def counted(self, names: Names, nested: int) -> list[str]:
        """A ``while`` that ends by itself when it is run by Python."""
        if self.loops >= 2:
            return self.assign(names)
        count = self.fresh("c")
        start = self.expr("int", names, 1)
        inner = {**names, count: "int"}
        self.loops += 1
        body = self.block({k: v for k, v in inner.items() if k != count}, 1, nested + 1)
        self.loops -= 1
        return [f"{count} = {start}", f"while {count} < 3:", *indent([*body, f"{count} = {count} + 1"])]

    def local_function(self, names: Names, nested: int) -> list[str]:
        function, parameter, result = self.fresh("local"), self.fresh("a"), self.fresh("n")
        inner = {**names, parameter: "num"}
        outer = self.loops, self.locked
        self.loops, self.locked = 2, frozenset(names)
        body = self.block(dict(inner), 1, 2)
        self.loops, self.locked = outer
        value = self.expr("num", inner, 1)
        argument = self.expr("num", names, 1)
        names[result] = "num"
        return [
            f"def {function}({parameter}):",
            *indent([*body, f"return {value}"]),
            f"{result} = {function}({argument})",
        ]

    def matched(self, names: Names, nested: int) -> list[str]:
        shape = self.random.choice(["number", "number", "pair", "dict"])
        inner = dict(names)
        first, second = self.fresh("m"), self.fresh("m")
        if shape == "pair":
            lines = [f"match {self.expr('pair', names, 1)}:"]
            lines += indent([f"case ({self.random.choice(['0.5', first])}, {second}):"])
            inner.update({second: "num"})
        elif shape == "dict":
            lines = [f"match {self.expr('params', names, 1)}:"]
            lines += indent([f'case {{"w": {first}, "b": {second}}}:'])
            inner.update({first: "vec", second: "num"})
        else:
            lines = [f"match {self.expr('int', names, 1)}:"]
            guard = f" if {self.expr('flag', names, 1)}" if self.chance(0.2) else ""
            lines += indent([f"case {self.random.choice(['0', '1 | 2', '3', 'int()'])}{guard}:"])
        lines += indent(indent(self.block(inner, 1, nested + 1)))
        lines += indent(["case _:"])
        lines += indent(indent(self.block(dict(names), 1, nested + 1)))
        return lines

    def guarded(self, names: Names, nested: int) -> list[str]:
        lines = ["try:", *indent(self.block(dict(names), 1, nested + 1))]
        errors = ["ZeroDivisionError", "KeyError", "ValueError", "jax.errors.ConcretizationTypeError", "Exception"]
        lines += [f"except {self.random.choice(errors)}:", *indent(self.block(dict(names), 1, nested + 1))]
        return lines

    # Functions and programs.

    def function(self, name: str, parameters: Sequence[Parameter], result: str, length: int) -> list[str]:
        """The lines of a function."""
        names = {parameter.name: parameter.type for parameter in parameters}
        signature = ", ".join(p.name + (f"={p.default}" if p.default else "") for p in parameters)
        lines = self.block(names, length)
        if self.chance(0.2):
            lines += [f"if {self.expr('flag', names)}:", f"    return {self.expr(result, names, 1)}"]
        return [f"def {name}({signature}):", *indent([*lines, f"return {self.expr(result, names)}"])]

    def helper(self) -> list[str]:
        """A function at module level, which later code can call."""
        types = [self.random.choice(["num", "num", "vec", "int", "flag"]) for _ in range(self.random.randint(1, 3))]
        parameters = [Parameter(f"a{i}", type_) for i, type_ in enumerate(types)]
        name, result = self.fresh("helper"), self.random.choice(["num", "num", "vec", "pair", "params"])
        lines = self.function(name, parameters, result, self.random.randint(0, 2))
        if self.chance(0.1):
            lines = ["@jax.jit", *lines]
        self.helpers.append(Function(name, types, result))
        return lines

    def parameters(self) -> list[Parameter]:
        """Parameters of the function under test: first those without default."""
        types = [self.random.choice(list(ARGUMENTS)) for _ in range(self.random.randint(1, 4))]
        made = []
        for i, type_ in enumerate(types):
            parameter = Parameter(f"x{i}", type_)
            if type_ in STATIC_ARGUMENTS:
                parameter.static = self.chance(0.9 if type_ == "mode" else 0.25)
                if self.chance(0.25):
                    parameter.default = self.random.choice(STATIC_ARGUMENTS[type_])
            made.append(parameter)
        return sorted(made, key=lambda parameter: parameter.default is not None)

    def arguments(self, parameters: Sequence[Parameter]) -> str:
        """What a caller passes."""
        passed: list[str] = []
        keyword = False
        for parameter in parameters:
            if parameter.default and self.chance(0.5):
                keyword = True
                continue
            values = STATIC_ARGUMENTS if parameter.static else ARGUMENTS
            value = self.random.choice(values[parameter.type])
            keyword = keyword or self.chance(0.1)
            passed.append(f"{parameter.name}={value}" if keyword else value)
        return ", ".join(passed)

    def program(self) -> str:
        """The text of a program; its last line is the call under test."""
        parts = [self.helper() for _ in range(self.random.randint(0, 2))]
        parameters = self.parameters()
        result = self.random.choice(RESULTS)
        body = self.function("f", parameters, result, self.random.randint(1, 4))
        static = [parameter.name for parameter in parameters if parameter.static]
        options = f", static_argnames=({''.join(f'{name!r}, ' for name in static)})".replace("'", '"') if static else ""
        arguments = self.arguments(parameters)
        form = self.random.choice(
            ["decorator", "decorator", "decorator", "call", "maker", "method", "field", "numbers"]
        )
        if self.chance(0.12):
            form = self.random.choice(["eager", "grad", "vmap", "lambda"])
        call = f"f({arguments})"
        match form:
            case "decorator":
                parts.append(["@jax.jit" if not static else f"@partial(jax.jit{options})", *body])
            case "call" | "lambda":
                parts += [body, [f"fast = jax.jit(f{options})"]]
                call = f"fast({arguments})"
            case "numbers":
                numbers = [i for i, parameter in enumerate(parameters) if parameter.static]
                parts += [body, [f"f = jax.jit(f, static_argnums={tuple(numbers)})"]]
            case "maker":
                parts += [["def make(rate):", *indent([f"@partial(jax.jit{options})", *body, "return f"])]]
                parts += [["made = make(0.5)"]]
                call = f"made({arguments})"
            case "method":
                body[0] = body[0].replace("(", "(self, ", 1)
                names = f'("self", {"".join(f"{name!r}, " for name in static)})'.replace("'", '"')
                head = f"@partial(jax.jit, static_argnames={names})"
                parts.append(["class Model:", *indent([head, *body])])
                call = f"Model().f({arguments})"
            case "field":
                body[0] = body[0].replace("(", "(self, ", 1)
                init = ["def __init__(self):", *indent(["self.rate = 0.5", f"self.run = jax.jit(self.f{options})"]), ""]
                parts.append(["class Model:", *indent([*init, *body])])
                call = f"Model().run({arguments})"
            case "grad":
                parts.append(self.function("f", [Parameter("x0", "num"), *parameters_after(parameters)], "num", 2))
                call = f"jax.grad(f)(jnp.float32(0.5){self.rest(parameters)})"
            case "vmap":
                parts.append(self.function("f", [Parameter("x0", "num")], "num", 2))
                call = "jax.vmap(f)(jnp.ones(3))"
            case _:
                parts.append(body)
        text = "\n\n\n".join("\n".join(part) for part in parts)
        return f"{HEADER}\n{text}\n\n\n{call}\n"

    def rest(self, parameters: Sequence[Parameter]) -> str:
        """Arguments for the parameters after the first, as they continue a call."""
        values = [self.random.choice(ARGUMENTS[parameter.type]) for parameter in parameters_after(parameters)]
        return "".join(f", {value}" for value in values)


def parameters_after(parameters: Sequence[Parameter]) -> list[Parameter]:
    """All parameters but the first, without defaults."""
    return [Parameter(parameter.name, parameter.type) for parameter in parameters[1:] if parameter.name != "x0"]


def indent(lines: Sequence[str]) -> list[str]:
    """The lines one level deeper."""
    return [f"    {line}" if line else line for line in lines]


def program(seed: int) -> str:
    """The program of a seed."""
    return Generator(random.Random(seed)).program()
