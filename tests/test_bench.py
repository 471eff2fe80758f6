"""The benches run from the command line at a size that tells nothing but that they work."""

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from tests.cuda_host.emulation import emulated
from vtree import subtrees
from vtree_kernels._dispatch import Kernel
from vtree_kernels.bincode import bincode

ROOT = Path(__file__).resolve().parent.parent
# Scripts with arguments that make them fast, and the files that they write.
LEARNERS = ("--learners", "vtree", "sklearn")
RUNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bench_bincode": ((), ("kernels", "binning")),
    "bench_differ": ((), ("kernels",)),
    "bench_entropy_cuts": (("--only", "2 classes"), ("kernels",)),
    "bench_histogram": (("--only", "28 features"), ("kernels",)),
    "bench_route": ((), ("kernels",)),
    "bench_scan": ((), ("kernels",)),
    "bench_search": (("--only", "2 classes"), ("kernels",)),
    "bench_subtree": (("--only", "28 of"), ("kernels",)),
    "bench_elementwise": ((), ("kernels",)),
    "bench_segment_sums": ((), ("kernels",)),
    "bench_isotonic": (("--only", "1 nodes"), ("kernels",)),
    "bench_joint": ((), ("kernels",)),
    "bench_traverse": ((), ("kernels",)),
    "bench_chaid": (("--learners", "vtree"), ("chaid",)),
    "bench_cold": (("--tasks", "filled"), ("cold",)),
    "bench_c45": (("--features", "6"), ("c45",)),
    "bench_fit": (LEARNERS, ("fit",)),
    "bench_forest": ((*LEARNERS, "--trees", "3"), ("forest",)),
    "bench_boost": (("--learners", "vtree", "vtree_leafwise", "--rounds", "3"), ("boost",)),
    "bench_reuse": (("--ways", "vtree_array", "vtree_bins", "--fits", "2"), ("reuse",)),
    "bench_parity": (
        ("--tables", "wine", "diabetes", "--peers", "sklearn", "--rounds", "3"),
        ("parity",),
    ),
    "bench_predict": (("--learners", "vtree", "vtree_leafwise", "--trees", "3"), ("predict",)),
    "bench_tables": (("--tables", "digits", "titanic", "--trees", "3"), ("tables",)),
    "compare": ((*LEARNERS, "--features", "6", "--classes", "3", "--depth", "3"), ("compare",)),
}
COMPARE = ("--missing", "0.2", "--plot", "plot.png")


def _run(script: str, *arguments: str, folder: Path) -> str:
    packages = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / f"{script}.py"), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": packages},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", RUNS)
def test_a_bench_prints_a_table_and_writes_rows(script: str, tmp_path: Path) -> None:
    arguments, names = RUNS[script]
    small = ("--rows", "1000", "--repeats", "1", "--results", "rows")
    more = COMPARE if script == "compare" else ()
    printed = _run(script, *small, *arguments, *more, folder=tmp_path)
    files = tmp_path / "rows"
    assert {path.stem for path in files.iterdir()} == set(names)
    assert printed.count("\n| --- ") == len(names)
    for name in names:
        rows = [json.loads(line) for line in (files / f"{name}.jsonl").read_text().splitlines()]
        assert rows
        assert all(row["rows"] == 1000 and row["cpu"] and row["numpy"] for row in rows)
        assert all("commit" in row and "cupy-cuda12x" in row for row in rows)
    assert (tmp_path / "plot.png").exists() == bool(more)


def test_every_bench_is_tested() -> None:
    scripts = (ROOT / "bench").glob("*.py")
    on_a_gpu = {"bench_atomics", "bench_level"}
    assert {path.stem for path in scripts if "__main__" in path.read_text()} == set(RUNS) | on_a_gpu


def _kernel_bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "bench")
    return importlib.import_module("kernel_bench")


def test_a_wrong_twin_is_not_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    harness = _kernel_bench(monkeypatch)

    def bincode(values: Any, *rest: Any) -> Any:
        return np.full(values.shape, 9)

    values, edges = np.ones((4, 1)), np.zeros(1)
    work = harness.Work([(values, [0], edges, [0, 1], np.uint8)], 4)
    case = harness.Case("one value", lambda rows: work, {})
    monkeypatch.setattr(sys, "argv", ["bench", "--results", str(tmp_path)])
    with pytest.raises(
        SystemExit, match="one value: ValueError: the cpu twin is not the reference"
    ):
        wrong = Kernel(bincode, cpu="vtree_kernels.bincode.cpu")
        harness.bench(wrong, "value", [case], harness.command_line(""), (0, 2))
    assert not list(tmp_path.iterdir())


def test_a_case_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    harness = _kernel_bench(monkeypatch)

    def broken(rows: int) -> Any:
        raise OSError("no such driver")

    values, edges = np.ones((4, 1)), np.zeros(1)
    work = harness.Work([(values, [0], edges, [0, 1], np.uint8)], 4)
    cases = [harness.Case("first", broken, {}), harness.Case("second", lambda rows: work, {})]
    monkeypatch.setattr(sys, "argv", ["bench", "--results", str(tmp_path)])
    with pytest.raises(SystemExit, match="first: OSError: no such driver"):
        harness.bench(bincode, "value", cases, harness.command_line(""), (0, 2))
    rows = [json.loads(line) for line in (tmp_path / "kernels.jsonl").read_text().splitlines()]
    assert {row["case"] for row in rows} == {"second"}


def test_a_task_that_fails_costs_no_other_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    measure = importlib.import_module("measure")
    kept = tmp_path / "some.jsonl"
    ran: list[str] = []

    def run(task: str) -> dict[str, Any]:
        # What was measured before is in the file already: the process may end at any time.
        assert len(kept.read_text().splitlines() if kept.exists() else []) == len(ran)
        if task == "broken":
            raise RuntimeError("the command failed:\n  of a driver\nno such device\n")
        ran.append(task)
        return {"task": task}

    options = argparse.Namespace(repeats=2, results=tmp_path)
    found = measure.interleaved("x/bench_some.py", ["first", "broken", "last"], run, options)
    assert ran == ["first", "last"] * 2
    assert found.failed == ["broken: RuntimeError: no such device"]
    assert {task: len(rows) for task, rows in found.rows.items()} == {"first": 2, "last": 2}
    assert [json.loads(line)["task"] for line in kept.read_text().splitlines()] == ran
    assert capsys.readouterr().err.count("Traceback") == 1


@pytest.mark.parametrize(("settled", "first"), [(True, 2), (False, 1)])
def test_a_child_that_compiled_is_run_again(
    settled: bool, first: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    script, counted = tmp_path / "child.py", tmp_path / "runs"
    counted.touch()
    script.write_text(
        "import json, pathlib, numba\n"
        "numba.njit(cache=True)(lambda: 1)()\n"
        f"path = pathlib.Path({str(counted)!r})\n"
        "path.write_text(path.read_text() + '.')\n"
        "print(json.dumps({'runs': len(path.read_text())}))\n"
    )
    in_child = importlib.import_module("measure").in_child
    assert in_child(str(script), threads=1, settled=settled) == {"runs": first}
    assert in_child(str(script), threads=1, settled=settled) == {"runs": first + 1}


@pytest.mark.parametrize("script", ["compare", "bench_fit"])
@pytest.mark.parametrize("broken", [{"sklearn"}, {"vtree"}, {"vtree", "sklearn"}])
def test_a_learner_that_fails_is_named_at_the_end(
    script: str,
    broken: set[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    module, learners = (importlib.import_module(name) for name in (script, "learners"))

    def in_child(*command: Any, **how: Any) -> dict[str, Any]:
        learner = command[-2]
        if learner in broken:
            raise RuntimeError("no kernel image")
        figures = ("seconds", "accuracy", "peak_over_input")
        return {"learner": learner, **dict.fromkeys(figures, 1.0)}

    monkeypatch.setattr(learners, "in_child", in_child)
    monkeypatch.setattr(module, "TEST_ROWS", 10)
    small: tuple[str, ...] = ("--rows", "30", "--features", "5", "--depth", "2", "--repeats", "2")
    if script == "compare":
        small += ("--classes", "2", "--missing", "0", "--plot", str(tmp_path / "plot.png"))
    monkeypatch.setattr(sys, "argv", ["bench", *small, *LEARNERS, "--results", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        module.main()
    for learner in broken:
        assert f"{learner}: RuntimeError: no kernel image" in str(end.value)
    printed = capsys.readouterr().out
    assert [f"| {name} |" in printed for name in LEARNERS[1:]] == [
        name not in broken for name in LEARNERS[1:]
    ]
    rows = [line for path in tmp_path.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(rows) == 2 * len({"vtree", "sklearn"} - broken)


@pytest.mark.parametrize(
    ("script", "arguments", "said"),
    [
        ("compare", ("--rows", "0"), "argument --rows: '0' is not an integer of at least 1"),
        ("compare", ("--features", "20", "3"), "'3' is not an integer of at least 5"),
        ("compare", ("--classes", "1"), "'1' is not an integer of at least 2"),
        ("compare", ("--missing", "1"), "'1' is not a share"),
        ("bench_fit", ("--rows", "-5"), "'-5' is not an integer of at least 1"),
        ("bench_forest", ("--features", "4"), "'4' is not an integer of at least 5"),
        ("bench_boost", ("--repeats", "0"), "argument --repeats: '0' is not"),
        ("bench_chaid", ("--threads", "two"), "argument --threads: 'two' is not"),
    ],
)
def test_a_wrong_size_is_refused(
    script: str,
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    module = importlib.import_module(script)
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    with pytest.raises(SystemExit, match="2"):
        module.main()
    assert said in capsys.readouterr().err


def test_a_case_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    harness = _kernel_bench(monkeypatch)
    script = importlib.import_module("bench_bincode")
    monkeypatch.setattr(sys, "argv", ["bench", "--only", "nosuch", "--results", str(tmp_path)])
    options = harness.command_line("")
    with pytest.raises(SystemExit, match=r"'nosuch'(.|\n)*float32, 31 bins\n *whole"):
        harness.bench(bincode, "value", script.CASES, options, script.ON_GPU, ("whole",))
    monkeypatch.setattr(options, "only", "whole")
    harness.bench(bincode, "value", script.CASES, options, script.ON_GPU, ("whole",))
    assert not list(tmp_path.iterdir())


def test_nodes_are_told_as_they_were(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harness = _kernel_bench(monkeypatch)
    script = importlib.import_module("bench_route")
    small = ("--rows", "1000", "--repeats", "1", "--only", "4,096 nodes, threshold")
    monkeypatch.setattr(sys, "argv", ["bench", *small, "--results", str(tmp_path)])
    options = harness.command_line("")
    harness.bench(script.route, "row", script.CASES, options, script.ON_GPU)
    rows = [json.loads(line) for line in (tmp_path / "kernels.jsonl").read_text().splitlines()]
    assert {row["nodes"] for row in rows} == {20}
    assert "| 4,096 nodes, threshold | 20 |" in capsys.readouterr().out


GPU_CASES = {
    "bincode": "31 bins",
    "differ": "4,096 nodes",
    "entropy_cuts": "250 values, 1 node",
    "histogram": "2 classes, 28 features, root",
    "route": "64 nodes",
    "scan": "squared_error, 250",
    "search": "2 classes, 100",
    "subtree": "200 rows",
    "elementwise": "logistic",
    "segment_sums": "64 leaves",
    "isotonic": "1 nodes",
    "joint": "1 nodes",
    "traverse": "depth 6",
}


@pytest.mark.cuda_host
@pytest.mark.parametrize("name", GPU_CASES)
def test_a_gpu_is_measured_beside_the_cpu(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harness = _kernel_bench(monkeypatch)
    script = importlib.import_module(f"bench_{name}")
    monkeypatch.setattr(harness, "COPIED", 500)
    monkeypatch.setattr(harness, "COPIES", 2)
    small = ("--rows", "300", "--repeats", "1", "--only", GPU_CASES[name])
    monkeypatch.setattr(sys, "argv", ["bench", *small, "--results", str(tmp_path)])
    with emulated():
        options = harness.command_line("")
        harness.bench(getattr(script, name), "update", script.CASES, options, script.ON_GPU)
    rows = [json.loads(line) for line in (tmp_path / "kernels.jsonl").read_text().splitlines()]
    where = {(row["backend"], row["threads"]) for row in rows}
    assert where == {("cpu", 1), ("cpu", 2), ("cuda", None)}
    assert all(row["equals_reference"] and row["floor_ns"] > 0 for row in rows)
    assert "| × its memory's floor |" in capsys.readouterr().out


class _Events:
    """CuPy's events, on a device that takes 3 ms for whatever lies between two."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def Event(self) -> Any:
        event = mock.Mock()
        self.made.append(event)
        return event

    def get_elapsed_time(self, first: Any, last: Any) -> float:
        first.record.assert_called_once_with()
        last.record.assert_called_once_with()
        last.synchronize.assert_called_once_with()
        return 3.0


@pytest.mark.cuda_host
def test_a_gpu_s_own_seconds_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harness = _kernel_bench(monkeypatch)
    script = importlib.import_module("bench_route")
    monkeypatch.setattr(harness, "COPIED", 500)
    monkeypatch.setattr(harness, "COPIES", 2)
    events = _Events()
    monkeypatch.setattr(harness, "_with_events", lambda: events)
    small = ("--rows", "300", "--repeats", "2", "--only", "64 nodes")
    monkeypatch.setattr(sys, "argv", ["bench", *small, "--results", str(tmp_path)])
    with emulated():
        options = harness.command_line("")
        harness.bench(script.route, "row", script.CASES, options, script.ON_GPU)
    rows = [json.loads(line) for line in (tmp_path / "kernels.jsonl").read_text().splitlines()]
    (own,) = (row for row in rows if row["backend"] == "cuda")
    assert own["device_ns_median"] == own["device_ns_best"] == pytest.approx(3e6 / 300)
    assert own["ns_median"] != own["device_ns_median"]
    # Bytes of a row over the bytes that the copies moved in those 3 ms.
    assert own["floor_ns"] == pytest.approx(1e9 * 40 / (16 * 500 * 2 / 3e-3))
    assert len(events.made) == 2 * (1 + 2 + 5)
    times = 3e6 / 300 / own["floor_ns"]
    assert f"| 10000.0000 | {times:.1f} |" in capsys.readouterr().out
    assert not any("device_ns_best" in row for row in rows if row["backend"] == "cpu")


@pytest.mark.cuda_host
def test_shared_atomics_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    script = importlib.import_module("bench_atomics")
    arguments = ("--times", "3", "--repeats", "1", "--results", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    monkeypatch.setattr(script, "THREADS", 64)
    with emulated():
        script.main()
    rows = [json.loads(line) for line in (tmp_path / "atomics.jsonl").read_text().splitlines()]
    assert len(rows) == len(script.KINDS) * len(script.PATTERNS)
    assert all(row["lane_adds_per_second"] > 0 for row in rows)
    assert "| two lanes a bank |" in capsys.readouterr().out


@pytest.mark.cuda_host
def test_the_parts_of_a_level_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    script = importlib.import_module("bench_level")
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 0)
    small = ("--rows", "900", "--features", "5", "--depths", "1", "2", "--repeats", "1")
    monkeypatch.setattr(sys, "argv", ["bench", *small, "--results", str(tmp_path)])
    with emulated():
        script.main()
    rows = [json.loads(line) for line in (tmp_path / "level.jsonl").read_text().splitlines()]
    calls = {(row["target"], row["part"]): row["calls"] for row in rows}
    # As tests/test_cuda_path.py has it: 5 launches for nodes with few rows, 6 of real targets.
    assert calls["two classes", "launches"] == 5
    assert calls["two classes", "copies to the device"] == 4
    assert calls["two classes", "copies back"] == 1
    assert calls["real", "launches"] == 6
    assert "| the host's own work |" in capsys.readouterr().out


@pytest.mark.parametrize("script", ["bench_atomics", "bench_level"])
def test_some_benches_need_a_gpu(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    module = importlib.import_module(script)
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(sys, "argv", ["bench"])
    with pytest.raises(SystemExit, match=f"{script} needs a GPU"):
        module.main()


@pytest.mark.cuda_host
def test_a_wrong_kernel_of_a_gpu_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    harness = _kernel_bench(monkeypatch)
    case = importlib.import_module("bench_bincode").CASES[0]
    monkeypatch.setattr(sys, "argv", ["bench", "--rows", "60", "--results", str(tmp_path)])
    wrong = Kernel(
        bincode.reference, cpu="vtree_kernels.bincode.cpu", cuda="vtree_kernels.bincode.cuda"
    )
    monkeypatch.setattr(wrong, "twin", lambda name: _off_by_one if name == "cuda" else bincode)
    with emulated(), pytest.raises(SystemExit, match="the cuda twin is not the reference"):
        harness.bench(wrong, "value", [case], harness.command_line(""), (0, 2))
    assert not list(tmp_path.iterdir())


def _off_by_one(*call: Any) -> Any:
    codes = bincode.twin("cuda")(*call)
    return codes + 1


def test_bits_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    same = _kernel_bench(monkeypatch).same_bits
    one = np.ones(3)
    assert same((one, one > 0), (one.copy(), one > 0))
    assert same(np.array([np.nan, 0.0]), np.array([np.nan, 0.0]))
    assert same(one.astype(np.int32), one.astype(np.int64))
    assert not same(np.array([0.0]), np.array([-0.0]))
    assert not same(one, np.ones((3, 1)))
    assert not same(one, one.astype(np.float32))
    assert not same((one, one), (one, 2 * one))
