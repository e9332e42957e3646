"""Small mutations of the source, to find out what the tests do not notice.

    python tools/mutants.py [--sample 300] [--seed 0] [--files PATH ...] [--tests PATH ...]
                            [--slow] [--list]

Each mutant is a copy of the source with one small change: another operator or constant, a negated
condition, a deleted statement. It is caught if a test fails, or if the tests take far too long.
Only the tests that reach the changed line are run; which those are is found out once, by running
all of them under coverage. Survivors are listed at the end. They show a hole in the tests, or code
that is not needed, or a change without an effect. The last kind is explained in
tools/mutants-equivalent.txt and not counted.

Results are kept in out/mutants.jsonl, so an interrupted run goes on where it ended. A mutant is run
again only if its file has changed, or if it survived and the tests have changed.
"""

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
MODULES = ["algorithms", "model", "space", "optimizer.py", "ledger.py", "predictor.py", "gap.py",
           "guard.py", "result.py"]  # fmt: skip
TESTS = ["algorithms", "golden", "model", "space", "run", "study", "test_*.py"]
NOT_RUN = re.compile(
    r"test_(workers|worker_faults|executors|study_kill|writers|lock|io_faults"
    r"|architecture|docs|package|types)\.py"
)
"""Tests of processes, of files and of the repository are slow and not about these modules."""

RESULTS = ROOT / "out" / "mutants.jsonl"
TOUCHES = ROOT / "out" / "mutants-tests.json"
EQUIVALENT = ROOT / "tools" / "mutants-equivalent.txt"

PATIENCE, AT_LEAST = 5.0, 60.0
"""A mutant hangs if its tests take AT_LEAST seconds plus PATIENCE times as long as without it. With
less patience, tests that are slow because the machine is busy would count as caught."""

AT_FIRST = 30
"""Most mutants are caught by the first few tests. These run on their own, because it takes seconds
to import all files with tests."""

STRONG = 20.0
"""A golden run notices most changes, so it comes before other tests unless they take less than one
part in this many of its time."""

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


# --- which tests reach which lines


def collect(chosen: list[str]) -> dict[str, Any]:
    """For each file and line, the tests that reach it; for each test, its time in seconds."""
    digest = sha256(" ".join(chosen).encode())
    for path in sorted([*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.*")]):
        if path.suffix in (".py", ".txt"):
            digest.update(path.read_bytes())
    known = json.loads(TOUCHES.read_text()) if TOUCHES.exists() else {}
    if known.get("digest") != digest.hexdigest():
        print(
            "running all tests under coverage, to see which of them reach which lines", flush=True
        )
        TOUCHES.parent.mkdir(exist_ok=True)
        command = [sys.executable, __file__, "--collect", *chosen]
        subprocess.run(command, env=environment(SOURCE), cwd=ROOT, check=True)
        known = {"digest": digest.hexdigest(), **json.loads(TOUCHES.read_text())}
        TOUCHES.write_text(json.dumps(known))
    return known


def run_under_coverage(chosen: list[str]) -> None:
    """Run the tests that these arguments of pytest choose, and write which lines each reached."""
    import coverage
    import pytest

    with tempfile.TemporaryDirectory() as place:
        cover = coverage.Coverage(
            data_file=str(Path(place, "data")), include=[str(SOURCE / "bamsoo" / "*")]
        )
        seconds: dict[str, float] = {}
        failed: list[str] = []

        class Contexts:
            @pytest.hookimpl(wrapper=True)
            def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
                cover.switch_context(item.nodeid)
                return (yield)

            def pytest_runtest_logreport(self, report: Any) -> None:
                seconds[report.nodeid] = seconds.get(report.nodeid, 0.0) + report.duration
                if report.failed:
                    failed.append(report.nodeid)

        cover.start()
        pytest.main(["-p", "no:xdist", *chosen], plugins=[Contexts()])
        cover.stop()
        data = cover.get_data()
        numbers = {test: i for i, test in enumerate(seconds)}
        lines: dict[str, dict[int, list[int]]] = {}
        for name in data.measured_files():
            found = lines[Path(name).relative_to(SOURCE).as_posix()] = {}
            for line, contexts in data.contexts_by_lineno(name).items():
                found[line] = sorted(numbers[c] for c in contexts if c in numbers)
    if failed:
        print("these tests fail without any change, and are left out:", *failed, sep="\n  ")
    tests = [[test, time, test not in failed] for test, time in seconds.items()]
    TOUCHES.write_text(json.dumps({"tests": tests, "lines": lines}))


def test_files(places: list[str]) -> list[str]:
    """The files with tests in these files and folders of tests/."""
    found = [path for each in places for path in sorted((ROOT / "tests").glob(each))]
    files = [f for p in found for f in ([p] if p.is_file() else sorted(p.rglob("test_*.py")))]
    return [str(path.relative_to(ROOT)) for path in files if not NOT_RUN.match(path.name)]


def concerning(mutant: Mutant, known: dict[str, Any]) -> list[int]:
    """The tests that reach the mutant's statement; first those that are quick or notice much.

    What a statement outside of functions defines is read elsewhere: it is reached by the tests of
    all lines that have its name.
    """
    lines = known["lines"].get(mutant.file, {})
    found = set(reaching(lines, range(mutant.line, mutant.last + 1)))
    text = (SOURCE / mutant.file).read_text().splitlines()
    defines = re.match(r"\s*(?:def )?(\w+)\s*[:=(]", text[mutant.line - 1])
    if not found and defines:
        word = re.compile(rf"\b{defines[1]}\b")
        for file, of_file in known["lines"].items():
            where = enumerate((SOURCE / file).read_text().splitlines(), 1)
            found.update(reaching(of_file, (n for n, line in where if word.search(line))))
    if not found and not mutant.where[:1].islower():
        found = set(reaching(lines, map(int, lines)))

    def rank(i: int) -> float:
        test, seconds, _ = known["tests"][i]
        return float(seconds / STRONG if test.startswith("tests/golden") else seconds)

    return sorted((i for i in found if known["tests"][i][2]), key=rank)


def reaching(lines: dict[str, list[int]], numbers: Iterable[int]) -> Iterator[int]:
    """The tests that reach any of these lines of a file."""
    for number in numbers:
        yield from lines.get(str(number), ())


# --- running them


def environment(source: Path) -> dict[str, str]:
    """Environment variables with which the package is imported from `source`."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    paths = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **one, **paths, "CI": "1"}  # in CI, hypothesis draws the same examples


def attempt(mutant: Mutant, text: str, source: Path, known: dict[str, Any]) -> dict[str, Any]:
    """Run the tests against one mutant in the copy `source` of the package."""
    chosen = [known["tests"][i] for i in concerning(mutant, known)]
    result = {**asdict(mutant), "tests": len(chosen), "known": known["digest"]}
    if not chosen:
        return {**result, "status": "not reached"}
    (source / mutant.file).write_text(text)
    try:
        for part in filter(None, (chosen[:AT_FIRST], chosen[AT_FIRST:])):
            limit = AT_LEAST + PATIENCE * sum(seconds for _, seconds, _ in part)
            failed = failure([test for test, _, _ in part], source, limit)
            if failed is not None:
                return {**result, "status": "caught", "by": failed}
        return {**result, "status": "survived"}
    finally:
        shutil.copy(SOURCE / mutant.file, source / mutant.file)


def failure(tests: list[str], source: Path, limit: float) -> str | None:
    """The first test that fails, "hangs" if they take longer than the limit, None if all pass."""
    with tempfile.NamedTemporaryFile("w+") as names, tempfile.TemporaryFile("w+") as output:
        json.dump(tests, names)
        names.flush()
        process = subprocess.Popen(
            [sys.executable, __file__, "--run", names.name],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(source),
            cwd=ROOT,
            start_new_session=True,
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            return "hangs"
        finally:
            if process.poll() is None:  # also after Ctrl-C
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output.read(), re.MULTILINE)
        return None if code == 0 else found[1] if found else f"exit code {code}"


def run_some(names: str) -> int:
    """Run the tests named in a file, in that order, until one fails."""
    import resource

    import pytest

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    order = {test: i for i, test in enumerate(json.loads(Path(names).read_text()))}

    class Chosen:
        def pytest_collection_modifyitems(self, items: list[Any]) -> None:
            items[:] = sorted(
                (item for item in items if item.nodeid in order), key=lambda i: order[i.nodeid]
            )

    files = sorted({test.partition("::")[0] for test in order})
    options = ["-x", "-p", "no:xdist", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
    return int(pytest.main([*options, *files], plugins=[Chosen()]))


def explained() -> set[str]:
    """The names of the mutants that are known to have no effect."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return {line.partition("  # ")[0] for line in lines if line and not line.startswith("#")}


def main() -> None:
    """Run the tests against a sample of mutants, and list those that survive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=300, help="number of mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", nargs="+", default=[], help="files or folders of src/bamsoo")
    parser.add_argument("--list", action="store_true", help="show the sample, and run nothing")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files or folders of tests")
    parser.add_argument("--slow", action="store_true", help="run slow tests too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--collect", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        sys.exit(run_some(given.run))
    if given.collect:
        run_under_coverage(given.collect)
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
    known = collect([*([] if given.slow else ["-m", "not slow"]), *test_files(given.tests)])
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    results = {each["digest"]: each for each in map(json.loads, lines)}

    def is_done(mutant: Mutant) -> bool:
        before = results.get(mutant.digest, {"status": None})
        return bool(before["status"] == "caught") or before.get("known") == known["digest"]

    left = [each for each in sample if each[0].name not in equivalent and not is_done(each[0])]
    with tempfile.TemporaryDirectory() as place:
        copies: SimpleQueue[Path] = SimpleQueue()
        for i in range(given.jobs):
            leave_out = shutil.ignore_patterns("__pycache__", "*.xz", "*.csv")
            shutil.copytree(SOURCE, Path(place, str(i)), ignore=leave_out)
            copies.put(Path(place, str(i)))

        def one(pair: tuple[Mutant, str]) -> dict[str, Any]:
            source = copies.get()
            try:
                return attempt(*pair, source, known)
            finally:
                copies.put(source)

        with ThreadPoolExecutor(given.jobs) as pool, RESULTS.open("a") as stored:
            for i, result in enumerate(pool.map(one, left), 1):
                results[result["digest"]] = result
                print(json.dumps(result), file=stored, flush=True)
                print(f"{i}/{len(left)} {result['status']}: {result['file']}:{result['line']}")
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
