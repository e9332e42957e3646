"""Small mutations of the source, to find out what the tests do not notice.

    python tools/mutants.py [--sample 300] [--seed 0] [--files PATH ...] [--list] [--again]

Each mutant is a copy of the source with one small change: another operator or constant, a negated
condition, a deleted statement. It is caught if a test fails, or if the tests take far too long.
Three kinds of the tests of `make test` are run, in this order: those in the file of the module's
name, the golden runs that call the changed function (which these are is found out once), and those
in other files that import the module or name a class of it. Survivors are listed at the end. They
show a hole in the tests, or code that is not needed, or a change without an effect. The last kind
is explained in tools/mutants-equivalent.txt and not counted.

Importing the tests takes longer than most of them. So one process imports all of them, and a fork
of it runs those of a mutant, after the code of the changed function has been replaced. For a change
outside of functions, a fork of another process imports them anew.

Results are kept in out/mutants.jsonl, so an interrupted run goes on where it ended. A mutant is run
again only if its file has changed, or, with `--again`, if it survived.
"""

import argparse
import ast
import copy
import cProfile
import gc
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from queue import SimpleQueue
from types import CodeType, FunctionType
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
MODULES = ["algorithms", "base", "model", "record", "result", "search", "space"]
TESTS = [*MODULES, "golden", "test_*.py"]
NOT_RUN = re.compile(r"test_(architecture|blas|docs|import|mutants|package|plotting)\.py")
"""Tests of the repository and of pictures are slow and not about these modules."""

RESULTS = ROOT / "out" / "mutants.jsonl"
CALLED = ROOT / "out" / "mutants-golden.json"
EQUIVALENT = ROOT / "tools" / "mutants-equivalent.txt"

HANGS = 15
"""A test hangs if it takes this many seconds of processor time more than the slowest one that is
not marked as slow, or WAIT times as long without using the processor, which others may need."""

WAIT = 40

CANNOT = "the function cannot be replaced"

MEMORY = 6 * 2**30
"""The address space of a mutant in bytes; one that appends for ever must not take everything."""

SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
PAIRS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil"),
         ("any", "all")]  # fmt: skip
NAMES = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
UNSEEN = {"__repr__", "_repr_html_", "brief", "TypeVar"}
"""Functions and calls that only make texts for people or type checkers."""


Concerning = tuple[list[str], list[str], list[str]]
Answer = tuple[str | None, int]
Function = tuple[str, int]
"""A function outside of others: its qualified name, and its index among those of this name."""


# --- mutations


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    line: int
    last: int
    """The last line of the changed statement, or of the head of a compound statement."""
    where: str
    kind: str
    before: str
    after: str
    digest: str
    """Of the whole changed file."""

    @property
    def name(self) -> str:
        """What identifies the mutant while other lines of the file change."""
        return f"{self.file} {self.where}: {self.before} => {self.after}"


class Place(NamedTuple):
    """The statement that a node belongs to, and the function or class around it."""

    where: str
    statement: ast.stmt


def mutants(path: Path) -> Iterator[tuple[Mutant, str]]:
    """Every mutant of a file, with the text of the changed file."""
    text, file = path.read_text(), path.relative_to(SOURCE).as_posix()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    source = text.encode()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column

    seen = {source}
    for place, node in nodes(ast.parse(text), None, ()):
        first, last = place.statement.lineno, place.statement.end_lineno
        if isinstance(body := getattr(place.statement, "body", None), list):
            last = max(first, body[0].lineno - 1)
        assert last is not None
        for kind, target, new in edits(node):
            begin = offset(target.lineno, target.col_offset)
            end = offset(target.end_lineno, target.end_col_offset)
            mutated = source[:begin] + new.encode() + source[end:]
            if mutated in seen:
                continue
            seen.add(mutated)
            grown = len(mutated) - len(source)
            old_head = source[starts[first - 1] : starts[last]]
            new_head = mutated[starts[first - 1] : starts[last] + grown]
            before, after = around(old_head.decode(), new_head.decode())
            digest = sha256(mutated).hexdigest()[:16]
            mutant = Mutant(file, first, last, place.where, kind, before, after, digest)
            yield mutant, mutated.decode()


def nodes(
    node: ast.AST, place: Place | None, where: tuple[str, ...]
) -> Iterator[tuple[Place, ast.AST]]:
    """The parts of a file that can be changed: not annotations, texts, errors and decorators."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or unseen(child):
                continue
            inside, here = where, place
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                inside = (*where, child.name)
            if isinstance(child, ast.stmt):
                here = Place(".".join(inside) or "module", child)
            if here is not None:
                yield here, child
            yield from nodes(child, here, inside)


def unseen(node: ast.AST) -> bool:
    """Whether changes of this part would have no effect that a test should notice."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        protocol = "Protocol" in ast.unparse(node).splitlines()[0]
        overloaded = any("overload" in ast.unparse(each) for each in node.decorator_list)
        return node.name in UNSEEN or protocol or overloaded
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in UNSEEN
    return isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr))


def edits(node: ast.AST) -> Iterator[tuple[str, Any, str]]:
    """For each change of a node: its kind, the part to replace, and the new text."""
    for target, field, i in operators(node):
        old = getattr(node, field) if i is None else getattr(node, field)[i]
        for operator in SWAPS.get(type(old), ()):
            other = copy.deepcopy(node)
            if i is None:
                setattr(other, field, operator())
            else:
                getattr(other, field)[i] = operator()
            text = ast.unparse(other)
            yield "operator", target, text if isinstance(node, ast.stmt) else f"({text})"
    match node:
        case ast.Constant(value=bool(value)):
            yield "constant", node, repr(not value)
        case ast.Constant(value=int(value) | float(value)):
            for new in {2 * value, value + 1, 0 * value} - {value}:
                yield "constant", node, repr(new)
        case ast.Name(id=name) if name in NAMES:
            yield "swapped", node, NAMES[name]
        case ast.Attribute(attr=name) if name in NAMES:
            other = copy.deepcopy(node)
            other.attr = NAMES[name]
            yield "swapped", node, ast.unparse(other)
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield "sign", node, f"({ast.unparse(node.operand)})"
        case ast.If() | ast.While() | ast.IfExp():
            yield "negated", node.test, f"(not ({ast.unparse(node.test)}))"
        case ast.comprehension():
            for test in node.ifs:
                yield "negated", test, f"(not ({ast.unparse(test)}))"
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in ("None", "False"):
            yield "return", value, "None"
        case ast.Break():
            yield "jump", node, "continue"
        case ast.Continue():
            yield "jump", node, "break"
        case ast.Expr(value=ast.Call() | ast.YieldFrom() | ast.Await()) | ast.AugAssign():
            yield "deleted", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "deleted", node, "pass"


def operators(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Each operator of a node: the node, the field, and the index if there may be several."""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)):
        yield node, "op", None
    if isinstance(node, ast.Compare):
        yield from ((node, "ops", i) for i in range(len(node.ops)))


def around(old: str, new: str, context: int = 24) -> tuple[str, str]:
    """The parts of two texts that differ, with a little of what is around them."""
    old, new = (re.sub(r"\s*#.*|\s+", " ", text).strip() for text in (old, new))
    same, after = alike(old, new), alike(old[::-1], new[::-1])
    after = min(after, len(old) - same, len(new) - same)
    begin = max(old.rfind(" ", 0, max(same - context, 0)) + 1, 0)
    return tuple(  # type: ignore[return-value]  # of two
        text[begin : len(text) - max(after - context, 0)] for text in (old, new)
    )


def alike(a: str, b: str) -> int:
    """The number of characters with which both texts begin."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))


# --- which tests concern which functions


def golden_calls() -> dict[str, Any]:
    """For each golden run: its processor time, and the functions that it calls by file and line."""
    digest = sha256((ROOT / "tests" / "golden" / "runs.py").read_bytes())
    for path in sorted(SOURCE.rglob("*.py")):
        digest.update(path.read_bytes())
    known = json.loads(CALLED.read_text()) if CALLED.exists() else {}
    if known.get("digest") != digest.hexdigest():
        print("running the golden runs, to see which functions each of them calls", flush=True)
        CALLED.parent.mkdir(exist_ok=True)
        command = [sys.executable, __file__, "--profile", str(CALLED)]
        subprocess.run(command, env=environment(SOURCE), cwd=ROOT, check=True)
        known = {"digest": digest.hexdigest(), "runs": json.loads(CALLED.read_text())}
        CALLED.write_text(json.dumps(known))
    runs: dict[str, Any] = known["runs"]
    return runs


def profile(to: Path) -> None:
    """Write what `golden_calls` returns."""
    golden: Any = import_module("golden.runs")

    found: dict[str, Any] = {}
    for run in golden.RUNS:
        profiler, begin = cProfile.Profile(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profiler.runcall(golden.made, run)
        calls: dict[str, list[int]] = {}
        for entry in profiler.getstats():
            if not isinstance(entry.code, str):
                path = Path(entry.code.co_filename)
                if path.is_relative_to(SOURCE):
                    name = path.relative_to(SOURCE).as_posix()
                    calls.setdefault(name, []).append(entry.code.co_firstlineno)
        found[run] = [time.process_time() - begin, calls]
    to.write_text(json.dumps(found))


def test_files() -> list[str]:
    """The files with tests."""
    found = [path for each in TESTS for path in sorted((ROOT / "tests").glob(each))]
    files = [f for p in found for f in ([p] if p.is_file() else sorted(p.rglob("test_*.py")))]
    return [str(path.relative_to(ROOT)) for path in files if not NOT_RUN.match(path.name)]


def concerning(mutant: Mutant, runs: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """The test file of the mutant's module, the golden runs to try, and other files that name it.

    A statement outside of functions concerns every run that calls a function of its file.
    """
    module = Path(mutant.file).relative_to("bamsoo").with_suffix("")
    module = module.parent if module.name == "__init__" else module
    own = f"tests/{module.parent}/test_{module.name}.py".replace("/./", "/")
    tree = ast.parse((SOURCE / mutant.file).read_text())
    around = [
        range(node.lineno - len(node.decorator_list), (node.end_lineno or 0) + 1)
        for _, node in functions(tree, ())
        if node.lineno <= mutant.line <= (node.end_lineno or 0)
    ]
    lines = around[0] if around else range(10**6)
    reached = {
        run: seconds
        for run, (seconds, calls) in runs.items()
        if any(line in lines for line in calls.get(mutant.file, []))
    }
    golden = [f"{GOLDEN}[{run}]" for run in sorted(reached, key=reached.__getitem__)]
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    named = "|".join(name for name in classes if not name.startswith("_"))
    imported = rf"^from bamsoo\S*(\.{module.name} import| import .*\b{module.name}\b)"
    name = re.compile(rf"{imported}|\b({named})\b" if named else imported, re.M)
    others = [f for f in test_files() if f != own and name.search((ROOT / f).read_text())]
    return [own], golden, [each for each in others if "/golden/" not in each]


GOLDEN = "tests/golden/test_golden.py::test_a_search_asks_for_the_stored_points"


# --- running them


def environment(source: Path) -> dict[str, str]:
    """Environment variables with which the package is imported from `source`."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    paths = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **one, **paths, "CI": "1"}  # in CI, hypothesis draws the same examples


class Runner:
    """A process that runs tests in forks of itself, against a copy of the package."""

    def __init__(self, source: Path) -> None:
        self._source = source
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, "--serve", str(theirs.fileno()), str(source)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=environment(source), cwd=ROOT, pass_fds=[theirs.fileno()],
            )  # fmt: skip
        with ours:
            self._channel = ours.makefile("rw")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()
        self._process.wait()

    def attempt(self, mutant: Mutant, text: str, runs: dict[str, Any]) -> dict[str, Any]:
        """Run the tests against one mutant."""
        path, begin = self._source / mutant.file, time.monotonic()
        original = path.read_text()
        path.write_text(text)
        try:
            request = concerning(mutant, runs), replaced(original, text), mutant.file
            print(json.dumps(request), file=self._channel, flush=True)
            failed, ran, seconds = json.loads(self._channel.readline())
        finally:
            path.write_text(original)
        result = {**asdict(mutant), "tests": ran, "seconds": seconds}
        result["clock"] = round(time.monotonic() - begin, 1)
        if failed is not None:
            return {**result, "status": "caught", "by": failed}
        return {**result, "status": "survived" if ran else "not reached"}


def replaced(old: str, new: str) -> Function | None:
    """The only function that has changed; None if other code has changed."""
    before, after = (list(functions(ast.parse(text), ())) for text in (old, new))
    differ = [
        i
        for i, ((_, a), (_, b)) in enumerate(zip(before, after, strict=True))
        if ast.dump(a) != ast.dump(b)
    ]
    if len(differ) != 1:
        return None
    (name, a), (_, b) = before[differ[0]], after[differ[0]]
    if ast.dump(a.args) != ast.dump(b.args):  # the defaults have been evaluated
        return None
    return name, [other for other, _ in before[: differ[0]]].count(name)


def functions(node: ast.AST, where: tuple[str, ...]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and its classes, with their qualified names, in their order."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield ".".join([*where, child.name]), child
        else:
            yield from functions(
                child, (*where, child.name) if isinstance(child, ast.ClassDef) else where
            )


def replace(function: Function, path: Path) -> bool:
    """Replace the code of a function by that of the file as it is now, wherever it is used.

    It cannot be if it is made by a call of another one, or has made others that exist, or has other
    free variables now.
    """
    name, index = function
    found: dict[int, list[FunctionType]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType:
            code = each.__code__
            if code.co_filename == str(path):
                if code.co_qualname == name:
                    found.setdefault(code.co_firstlineno, []).append(each)
                elif code.co_qualname.startswith(f"{name}.<locals>."):
                    return False
    codes = [compile(path.read_text(), str(path), "exec")]
    for code in codes:  # grows
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    new = [c for c in codes if c.co_qualname == name][index : index + 1]
    if not new or len(found) <= index:
        return False
    try:
        for each in found[sorted(found)[index]]:
            each.__code__ = new[0]
    except ValueError:
        return False
    return True


def serve(channel: int, source: Path) -> None:
    """Import all tests, and run those that come through a socket, each time in a fork.

    A second process has imported only what is not of this package.
    """
    import numpy as np  # noqa: F401
    import pytest
    import scipy.linalg
    import scipy.optimize
    import scipy.stats  # noqa: F401

    options = ["-s", "-p", "no:xdist", "-p", "no:cacheprovider", "--tb=no"]
    options += ["-m", "not long"]
    failed: list[str] = []

    class Failures:
        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                failed.append(report.nodeid)

    class Once(Failures):
        """Runs the tests of one mutant."""

        def __init__(self, tests: Concerning) -> None:
            self._tests = tests
            self.answer: Answer = "an import", 1

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            if not session.testsfailed:
                self.answer = run(session.items, failed, self._tests)
            return True

    def anew(tests: Concerning) -> Answer:
        once, files = Once(tests), [*tests[0], *tests[2], GOLDEN.partition("::")[0]]
        pytest.main([*options, *(f for f in files if Path(f).exists())], plugins=[once])
        return once.answer

    class Server(Failures):
        """Runs the tests of one mutant after another."""

        def _quickly(
            self, session: Any, tests: Concerning, function: Function | None, file: str
        ) -> Answer:
            if function is None or not replace(function, source / file):
                return CANNOT, 0
            return run(session.items, failed, tests)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            assert not session.testsfailed, "some tests cannot be imported"
            with link.makefile("rw") as requests:
                for line in requests:
                    tests, function, file = json.loads(line)

                    answer = forked(partial(self._quickly, session, tests, function, file))
                    if answer[0] == CANNOT:
                        print(json.dumps(tests), file=bare, flush=True)
                        answer = json.loads(bare.readline())
                    print(json.dumps(answer), file=requests, flush=True)
            return True

    ours, theirs = socket.socketpair()
    if not os.fork():
        os.close(channel)
        ours.close()
        with theirs.makefile("rw") as requests:
            for line in requests:
                answer = forked(partial(anew, json.loads(line)))
                print(json.dumps(answer), file=requests, flush=True)
        os._exit(0)
    theirs.close()
    bare = ours.makefile("rw")
    with socket.socket(fileno=channel) as link:
        pytest.main([*options, *test_files()], plugins=[Server()])


def forked(work: Callable[[], Answer]) -> tuple[str | None, int, float]:
    """The first test that fails in a fork of this process, how many ran, and the seconds it took.

    The seconds are of processor time.
    """
    with tempfile.TemporaryFile("w+") as answer:
        child = os.fork()
        if not child:
            code = 1
            try:
                os.setpgid(0, 0)
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                json.dump(work(), answer)
                answer.flush()
                code = 0
            finally:
                os._exit(code)
        _, status, usage = os.wait4(child, 0)
        with suppress(ProcessLookupError):  # what a test has left behind
            os.killpg(child, signal.SIGKILL)
        answer.seek(0)
        text = answer.read()
        seconds = round(usage.ru_utime + usage.ru_stime, 1)
        if status == 0 and text:
            failed, ran = json.loads(text)
            return failed, ran, seconds
        by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        hangs = by in (signal.SIGXCPU, signal.SIGALRM)
        return "hangs" if hangs else f"status {status}", 1, seconds


def run(items: list[Any], failed: list[str], tests: Concerning) -> Answer:
    """The first of these tests that fails in this process, and how many were run."""
    own, golden, others = tests
    by_name = {item.nodeid: item for item in items}
    of_file: dict[str, list[Any]] = {}
    for item in items:
        of_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
    chosen = [item for file in own for item in of_file.get(file, [])]
    chosen += [by_name[name] for name in golden if name in by_name]
    chosen += [item for file in others for item in of_file.get(file, [])]
    for count, (item, following) in enumerate(zip_longest(chosen, chosen[1:]), 1):
        limit = int(time.process_time()) + HANGS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        signal.alarm(HANGS * WAIT)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed:
            return failed[0], count
    return None, len(chosen)


def explained() -> set[str]:
    """The names of the mutants that are known to have no effect."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return {line.partition("  # ")[0] for line in lines if line and not line.startswith("#")}


def main() -> None:
    """Run the tests against a sample of mutants, and list those that survive."""
    sys.path.insert(0, str(ROOT / "tests"))
    import_module("rounding").fix()  # before numpy is imported, here or in a process started here
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=300, help="number of mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", nargs="+", default=[], help="files or folders of src/bamsoo")
    parser.add_argument("--list", action="store_true", help="show the sample, and run nothing")
    parser.add_argument("--again", action="store_true", help="run survivors again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--profile", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(int(given.serve[0]), Path(given.serve[1]))
        return
    if given.profile:
        profile(given.profile)
        return
    places = [SOURCE / "bamsoo" / each for each in given.files or MODULES]
    files = [f for p in places for f in ([p] if p.is_file() else sorted(p.rglob("*.py")))]
    sample = [each for path in files for each in mutants(path)]
    total, equivalent = len(sample), explained()
    if not given.files:
        for name in sorted(equivalent - {mutant.name for mutant, _ in sample}):
            print(f"{EQUIVALENT.name} explains a mutant that no longer exists: {name}")
    if given.sample:
        sample = random.Random(given.seed).sample(sample, min(given.sample, total))
    print(f"{len(sample)} of {total} mutants of {len(files)} files")
    if given.list:
        for mutant, _ in sample:
            print(f"{mutant.file}:{mutant.line} {mutant.where} [{mutant.kind}]")
            print(f"  - {mutant.before}\n  + {mutant.after}")
        return
    runs = golden_calls()
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    results = {each["digest"]: each for each in map(json.loads, lines)}

    def is_done(mutant: Mutant) -> bool:
        before = results.get(mutant.digest, {"status": None})["status"]
        return before is not None and (before == "caught" or not given.again)

    left = [each for each in sample if each[0].name not in equivalent and not is_done(each[0])]
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        runners: SimpleQueue[Runner] = SimpleQueue()
        for i in range(min(given.jobs, len(left))):
            leave_out = shutil.ignore_patterns("__pycache__", "*.xz", "*.csv")
            source = shutil.copytree(SOURCE, Path(place, str(i)), ignore=leave_out)
            runners.put(stack.enter_context(Runner(source)))

        def one(pair: tuple[Mutant, str]) -> dict[str, Any]:
            runner = runners.get()
            try:
                return runner.attempt(*pair, runs)
            finally:
                runners.put(runner)

        with ThreadPoolExecutor(given.jobs) as pool, RESULTS.open("a") as stored:
            for i, result in enumerate(pool.map(one, left), 1):
                results[result["digest"]] = result
                print(json.dumps(result), file=stored, flush=True)
                what = f"{result['file']}:{result['line']}"
                print(f"{i}/{len(left)} {result['status']}: {what}", flush=True)
    report([mutant for mutant, _ in sample], results, equivalent)


def report(sample: list[Mutant], results: dict[str, dict[str, Any]], equivalent: set[str]) -> None:
    """The score, and one entry per survivor."""
    counted = [mutant for mutant in sample if mutant.name not in equivalent]
    statuses = Counter(results[mutant.digest]["status"] for mutant in counted)
    for mutant in counted:
        status = results[mutant.digest]["status"]
        if status in ("survived", "not reached"):
            print(f"\n{status}: {mutant.file}:{mutant.line} {mutant.where} [{mutant.kind}]")
            print(f"  - {mutant.before}\n  + {mutant.after}")
    caught = statuses["caught"]
    print(f"\n{caught} of {len(counted)} caught ({100.0 * caught / max(len(counted), 1):.1f} %):")
    print(", ".join(f"{count} {status}" for status, count in statuses.most_common()), end="")
    print(f"; {len(sample) - len(counted)} more are explained as equivalent")


if __name__ == "__main__":
    main()
