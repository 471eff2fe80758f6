#!/usr/bin/env bash
# Everything that only a CUDA machine can tell, within eight minutes: the tests of the kernels on
# the device, the benches of kernels, the rate of shared atomics, and one tree beside the peers.
#
#     bench/gpu.sh                 results in $OUT, or bench/results/
#
# Needs Python with CuPy, what vtree depends on, and pytest and hypothesis for the tests; no network:
# wheels of pure Python in .wheels/ are used as they are. Where some are missing,
#
#     pip download --no-deps -d .wheels array-api-compat narwhals
#
# fetches them beforehand; without array-api-compat the copy in scikit-learn serves. Peers that are
# not installed are left out; what fails or takes too long is said in the summary. It leaves eight
# files at most: gpu_summary.txt, gpu_steps.txt with all that was printed, the rows of each bench, and
# all of them in gpu.json; they grow step by step.
set -u
# Of $OUT the caller knows where it is.
[[ -n ${OUT:-} ]] && { mkdir -p "$OUT" && out=$(cd "$OUT" && pwd) || exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
out=${out:-$PWD/bench/results}
mkdir -p "$out" || exit 1
summary=$out/gpu_summary.txt
limit=${SECONDS_IN_ALL:-465}
export PYTHONPATH=$PWD:$PWD/kernels
for wheel in .wheels/*.whl; do
    [[ -f $wheel ]] && PYTHONPATH=$PYTHONPATH:$PWD/$wheel
done
export NUMBA_CACHE_DIR=${NUMBA_CACHE_DIR:-${TMPDIR:-/tmp}/vtree_numba_cache}
export PYTHONUNBUFFERED=1  # what is stopped has printed what it said
python=${PYTHON:-python3}
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! "$python" -c 'import array_api_compat' 2>/dev/null; then
    copy=$("$python" -c 'import sklearn.externals.array_api_compat as own; print(own.__path__[0])')
    [[ -d $copy ]] && ln -s "$copy" "$scratch/array_api_compat" && PYTHONPATH=$PYTHONPATH:$scratch
fi

steps=$out/gpu_steps.txt  # all that the steps printed

# collect: put the rows measured so far into one file. After each step, for whoever stops this one.
collect() {
    "$python" - "$out" <<'PYTHON'
import json, pathlib, sys

def rows_of(path):
    """Return the rows of a file, but for one that was cut off as it was written."""
    found = []
    for line in path.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            print(f"{path.name}: left out {line[:60]!r}")
    return found

folder = pathlib.Path(sys.argv[1])
rows = {path.stem: rows_of(path) for path in sorted(folder.glob("*.jsonl"))}
(folder / "gpu.json").write_text(json.dumps(rows, indent=1))
print(f"{sum(map(len, rows.values()))} rows in gpu.json")
PYTHON
}

# step NAME SECONDS COMMAND…: run with a limit, keep all it prints, add the end to the summary. At
# the limit it is interrupted as by Ctrl-C, so that pytest says what has failed until then.
step() {
    local name=$1 seconds=$2 left=$((limit - SECONDS)) status printed
    shift 2
    ((left < seconds)) && seconds=$left
    if ((seconds < 5)); then
        printf '\n== %s: no time left\n' "$name" | tee -a "$summary"
        failures=$((failures + 1))
        return
    fi
    local began=$SECONDS
    printed=$(mktemp)
    timeout --signal=INT --kill-after=10 "$seconds" "$@" >"$printed" 2>&1
    status=$?
    # All tests skipped is not what was asked for.
    [[ $name == tests && $status == 0 ]] && ! tail -n 1 "$printed" | grep -q ' passed' && status=5
    {
        printf '\n== %s: ' "$name"
        case $status in
            0) printf 'done' ;;
            124 | 137) printf 'stopped after %d s' "$seconds" ;;
            *) printf 'failed (%d)' "$status" ;;
        esac
        printf ', %d s\n' "$((SECONDS - began))"
        tail -n 40 "$printed"
    } | tee -a "$summary"
    { printf '\n== %s\n' "$name"; tail -c 2000000 "$printed"; } >>"$steps"
    rm -f "$printed"
    collect >/dev/null
    ((status == 0)) || failures=$((failures + 1))
}

: >"$summary"
: >"$steps"
{
    date -u +%FT%TZ
    git rev-parse HEAD 2>/dev/null
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
} 2>&1 | tee -a "$summary"

threads=$(nproc)
kernels='histogram scan subtree search route bincode differ entropy_cuts traverse joint isotonic
    elementwise segment_sums'
# What is missing is said first: a wheel, the driver, a header that CuPy compiles with.
step machine 40 "$python" - <<'PYTHON'
import importlib, importlib.metadata, sys
missing = []
for name in ("numpy", "scipy", "sklearn", "numba", "narwhals", "safetensors", "array_api_compat",
             "hypothesis", "pytest", "cupy"):
    try:
        found = importlib.import_module(name)
        print(name, getattr(found, "__version__", ""))
    except Exception as error:
        missing.append(name)
        print(f"{name}: {type(error).__name__}: {error}")
if "cupy" in missing:
    sys.exit("without CuPy nothing runs on the GPU")
import cupy
print("CUDA", cupy.cuda.runtime.runtimeGetVersion(), "driver", cupy.cuda.runtime.driverGetVersion())
print("sum by CuPy:", int(cupy.arange(10).sum()))
import vtree, vtree_kernels
print(*vtree.backends(), sep="\n")
device = vtree_kernels.cuda.device(0)
print(device.processors, "processors,", device.shared_bytes, "bytes of shared memory a block")
sys.exit(f"missing: {missing}" if missing else 0)
PYTHON
if ! "$python" -c 'import cupy, vtree; cupy.arange(10).sum().item()' 2>/dev/null; then
    printf '\nNothing is measured without a GPU.\n' | tee -a "$summary"
    exit 1
fi
step atomics 40 "$python" bench/bench_atomics.py --results "$out"
# Without the options of pyproject.toml, which ask for plugins that may not be installed. Most of
# the time is NVRTC's, on the processor: workers share it, where pytest-xdist is there.
tests=("$python" -m pytest -o addopts= -o filterwarnings=default -p no:cacheprovider -v -rfEs
    --tb=short --import-mode=importlib --continue-on-collection-errors -m cuda)
workers=()
"$python" -c 'import xdist' 2>/dev/null && workers=(-n "$((threads < 8 ? threads : 8))")
# What the benches run is compiled beside the tests, whose time nobody measures. It ends as a group.
small="--rows 2000 --repeats 1 --results $scratch"
{
    for name in $kernels; do echo "bench/bench_$name.py --threads $threads $small"; done
    echo "bench/bench_level.py --repeats 1 --rows 2000 --results $scratch"
    echo "bench/compare.py --features 28 --classes 2 --missing 0 --learners vtree vtree_cuda $small"
} | timeout 200 xargs -P "$((threads / 4 + 1))" -L 1 "$python" >/dev/null 2>&1 &
warming=$!
step tests 150 "${tests[@]}" "${workers[@]}" tests/kernels tests/test_cuda_path.py \
    tests/test_cuda_forests.py
kill "$warming" 2>/dev/null
wait "$warming" 2>/dev/null
kernel() {
    step "$1" "$2" "$python" "bench/bench_$1.py" --repeats 3 --threads "$threads" \
        --results "$out" "${@:3}"
}
kernel histogram 60 --only '28 features'
step compare 120 "$python" bench/compare.py --rows 100000 1000000 --features 28 --classes 2 \
    --depth 10 --missing 0 --repeats 1 --threads "$threads" --results "$out"
step level 40 "$python" bench/bench_level.py --repeats 3 --results "$out"
kernel scan 40
kernel subtree 30 --rows 200000
kernel search 30 --rows 400000
# What tests on the host cannot tell: threads that meet in shared memory at the same time. Kernels
# that share most come first.
if command -v compute-sanitizer >/dev/null; then
    step races 50 compute-sanitizer --tool racecheck --error-exitcode 9 "${tests[@]}" \
        -k 'not entropy_cuts or 3000-False-1024' tests/kernels/test_subtree.py \
        tests/kernels/test_entropy_cuts.py tests/kernels/test_histogram.py \
        tests/kernels/test_partition.py tests/kernels/test_scan.py
fi
kernel route 40
kernel bincode 40
kernel differ 20
kernel entropy_cuts 30
kernel traverse 40
kernel joint 20 --rows 100000
kernel isotonic 10 --rows 50000
kernel elementwise 20
kernel segment_sums 20
printf '\n%d of the steps failed or were stopped; %d s in all\n' "$failures" "$SECONDS" \
    | tee -a "$summary"
collect | tee -a "$summary"
((failures == 0))
