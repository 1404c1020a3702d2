"""What to trace, and with which arguments.

For each jitted function the best source that knows all its arguments wins: a signature of the configuration, the call
sites that static analysis followed, the annotations and defaults. Where these leave an array's rank or dtype open, the
function is *probed*: traced with each of several guesses, and only what all of them agree on counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jitlint.dynamic.annotations import Dimensions, Guess, from_annotation
from jitlint.dynamic.recipes import Receivers
from jitlint.dynamic.signature import Node, SignatureError, key, parse_signature
from jitlint.dynamic.targets import LOCAL, Parameter, Target

PROBES = tuple((rank, dtype) for dtype in ("float32", "int32") for rank in range(4))
MAX_CALL_SITES = 24
UNKNOWN: Node = {"unknown": True}
FORBIDDEN = "calls of the program are not made (dynamic.construct)"
KEY_NAME = re.compile(r"(.*_)?(key|subkey|rng|prng)(_(input|init|eval|net|noise|sample|reset|step|\d*))?")
"""By such names people pass PRNG keys, whatever the annotation; ``jax.Array`` says nothing else."""


@dataclass(frozen=True, slots=True)
class PlannedArgument:
    """An argument of a call: ``node`` is None where static analysis does not know it."""

    node: Node | None
    what: str = ""
    """How it is written, for messages."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of a jitted function somewhere in the project, as static analysis followed it."""

    path: str
    row: int
    args: tuple[PlannedArgument, ...] = ()
    kwargs: Mapping[str, PlannedArgument] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every argument is known."""
        return all(a.node is not None for a in (*self.args, *self.kwargs.values()))


@dataclass(frozen=True, slots=True)
class Job:
    """One trace to make: ``source`` is ``signature``, ``call site``, ``annotations`` or ``probe``."""

    id: str
    target: Target
    source: str
    args: tuple[Node, ...]
    kwargs: Mapping[str, Node]
    site: tuple[str, int] | None = None
    """The path and row of the call site."""
    leaks: bool = False
    guess: tuple[int, str] | None = None
    """The rank and dtype of arrays that are not known."""
    ask: bool = False
    """The worker gives what the function cannot do without."""

    def encode(self) -> dict[str, Any]:
        """As the worker reads it."""
        encoded: dict[str, Any] = {"id": self.id, "function": self.target.reach or self.target.made}
        encoded |= {"args": list(self.args), "kwargs": dict(self.kwargs), "leaks": self.leaks}
        if self.target.jit is not None:
            encoded |= {"jit": dict(self.target.jit), "jitter": self.target.jitter}
        if self.ask:
            encoded["ask"] = True
        if self.guess is not None:
            encoded["guess"] = list(self.guess)
        if self.source in ("annotations", "probe") and not self.leaks:
            encoded["unless_traced"] = self.target.row
        if self.site is not None and not self.leaks:
            encoded["unless_ran"] = list(self.site)
        return encoded


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs for one function; without any, ``reason`` says why."""

    target: Target
    jobs: tuple[Job, ...] = ()
    reason: str = ""


def plan_target(
    target: Target,
    module: str,
    signatures: Mapping[str, Sequence[str]],
    call_sites: Sequence[CallSite] = (),
    *,
    leaks: bool = False,
    receivers: Receivers | None = None,
    construct: bool = True,
) -> Plan:
    """How to trace one jitted function of ``module``; with ``leaks``, also look for tracers that escape.

    ``receivers`` says how objects of the class of a method are made; without ``construct``, none are, and no function of
    the program is called for what it gives.
    """
    if not target.reach and target.made is None:
        return Plan(target, reason=target.why or LOCAL)
    named = f"{module}.{target.qualname}"
    for name in (named, f"{module}.{target.reach or target.qualname}", target.qualname):
        if name in signatures:
            return _from_signature(target, named, signatures[name], leaks)
    receivers = receivers or Receivers()
    if target.owner and receivers.why:
        return Plan(target, reason=receivers.why)
    if not construct and (target.made is not None or target.owner):
        return Plan(target, reason=FORBIDDEN)
    sites = [*call_sites, *(target.calls if construct else ())]
    jobs = [*_from_call_sites(target, named, sites)]
    if jobs:
        return Plan(target, _with_leaks(jobs, leaks))
    if not target.known:
        return Plan(target, _asked_in_the_worker(target, named, max(sites, key=_known, default=None)))
    if sites and target.made is None and not target.owner:
        jobs = _from_parts(target, named, max(sites, key=_known))
    return Plan(target, tuple(jobs)) if jobs else _from_annotations(target, named, leaks, receivers)


def _with_leaks(jobs: Sequence[Job], leaks: bool) -> tuple[Job, ...]:
    """The jobs, and the first once more under ``jax.checking_leaks``."""
    if not leaks or not jobs or jobs[0].source == "probe":
        return tuple(jobs)
    return (*jobs, replace(jobs[0], id=f"{jobs[0].id}:leaks", leaks=True))


def _from_signature(target: Target, named: str, signature: Sequence[str], leaks: bool) -> Plan:
    try:
        args, kwargs = parse_signature(signature)
    except SignatureError as error:
        return Plan(target, reason=f"its signature in the configuration cannot be read: {error}")
    return Plan(target, _with_leaks([Job(f"{named}:signature", target, "signature", args, kwargs)], leaks))


def _from_call_sites(target: Target, named: str, call_sites: Sequence[CallSite]) -> Iterator[Job]:
    seen: set[str] = set()
    for site in call_sites:
        if not site.complete or any(_has_object(a.node) for a in (*site.args, *site.kwargs.values())):
            continue
        args = tuple(a.node for a in site.args if a.node is not None)
        kwargs = {k: a.node for k, a in site.kwargs.items() if a.node is not None}
        spelled = repr((args, kwargs))
        if spelled not in seen and len(seen) < MAX_CALL_SITES:
            seen.add(spelled)
            source = ("probe", "probe:call") if target.guessed else ("call site", "call")
            job = Job(f"{named}:{source[1]}:{len(seen)}", target, source[0], args, kwargs, (site.path, site.row))
            yield replace(job, guess=(2, "float32")) if target.guessed else job


def _asked_in_the_worker(target: Target, named: str, site: CallSite | None) -> tuple[Job, ...]:
    """Jobs for a function whose parameters only the interpreter knows: with what a call is known to pass, the rest is
    for the worker to find out."""
    args: list[Node] = [argument.node or UNKNOWN for argument in site.args] if site is not None else []
    kwargs = {name: a.node for name, a in site.kwargs.items() if a.node is not None} if site is not None else {}
    return tuple(
        Job(f"{named}:probe:{dtype}:{rank}", target, "probe", tuple(args), kwargs, guess=(rank, dtype), ask=True)
        for rank, dtype in PROBES
    )


def _known(site: CallSite) -> int:
    return sum(argument.node is not None for argument in (*site.args, *site.kwargs.values()))


def _has_object(node: object) -> bool:
    """Whether an argument is had from an object that is made with arguments which perhaps nothing says."""
    if isinstance(node, Mapping):
        return "made" in node or any(map(_has_object, node.values()))
    return isinstance(node, list | tuple) and any(map(_has_object, node))


def _from_parts(target: Target, named: str, site: CallSite) -> list[Job]:
    """Jobs with what a call is known to pass, and guesses for the rest; none if not all of it can be guessed."""
    jobs = []
    for rank, dtype in PROBES:
        guess, dimensions = Guess(rank, dtype), Dimensions()
        args: list[Node] = []
        kwargs: dict[str, Node] = {}
        positional = [p for p in target.parameters if p.kind == "pos"]
        for index, parameter in enumerate(target.parameters):
            passed = site.kwargs.get(parameter.name)
            if parameter.kind == "pos" and positional.index(parameter) < len(site.args):
                passed = site.args[positional.index(parameter)]
            if parameter.kind in ("args", "kwargs") or (passed is None and parameter.default is not None):
                continue
            node = passed.node if passed is not None else None
            node = node or _argument(target, parameter, index, dimensions, guess, Receivers())
            if node is None:
                return []
            if parameter.kind == "pos" and len(args) == index:
                args.append(node)
            else:
                kwargs[parameter.name] = node
        jobs.append(Job(f"{named}:probe:{dtype}:{rank}", target, "probe", tuple(args), kwargs, guess=(rank, dtype)))
    return jobs


def _from_annotations(target: Target, named: str, leaks: bool, receivers: Receivers) -> Plan:
    guess = Guess()
    built = _arguments(target, guess, receivers)
    if isinstance(built, str):
        return Plan(target, reason=built)
    guess.used |= target.guessed
    if not guess.used:
        return Plan(target, _with_leaks([Job(f"{named}:annotations", target, "annotations", *built)], leaks))
    jobs = []
    for rank, dtype in PROBES:
        args = _arguments(target, Guess(rank, dtype), receivers)
        assert not isinstance(args, str)
        jobs.append(Job(f"{named}:probe:{dtype}:{rank}", target, "probe", *args, guess=(rank, dtype)))
    return Plan(target, tuple(jobs))


def _arguments(target: Target, guess: Guess, receivers: Receivers) -> tuple[tuple[Node, ...], dict[str, Node]] | str:
    """Arguments from annotations and defaults, or why there are none. What has a default is left out."""
    dimensions = Dimensions()
    args: list[Node] = []
    kwargs: dict[str, Node] = {}
    for index, parameter in enumerate(target.parameters):
        if parameter.default is not None or parameter.kind in ("args", "kwargs"):
            continue
        node = _argument(target, parameter, index, dimensions, guess, receivers)
        if node is None:
            return f"nothing says what its parameter `{parameter.name}` is"
        if parameter.kind == "pos":
            args.append(node)
        else:
            kwargs[parameter.name] = node
    return tuple(args), kwargs


def _argument(
    target: Target, parameter: Parameter, index: int, dimensions: Dimensions, guess: Guess, receivers: Receivers
) -> Node | None:
    if index == 0 and target.owner and target.made is None and parameter.name in ("self", "cls"):
        if parameter.name == "cls":
            return {"ref": target.owner}
        # What is made up for a constructor is a guess like any other.
        guess.used |= target.constructed and not receivers.calls
        made = {"calls": list(receivers.calls), "subclasses": list(receivers.subclasses)}
        return {"made": target.owner, **made}
    asked = Guess(guess.rank, guess.dtype)
    node = from_annotation(parameter.annotation, dimensions, asked)
    if node is None and parameter.annotation is None and parameter.name not in target.statics:
        node = asked.array()
    if (node is None or asked.used) and KEY_NAME.fullmatch(parameter.name):
        return key()
    guess.used |= asked.used
    if parameter.name in target.statics or (node is not None and not (target.owner and asked.used)):
        return node
    # A class or an alias of the program, which the worker can look up, or what another method of the object gives.
    guess.used = True
    return {"hint": [target.reach or target.made, parameter.name], "otherwise": node}
