#!/usr/bin/env bash
# Everything that only a CUDA machine can tell, within eight minutes: the tests of the kernels on
# the device, the benches of kernels, the rate of shared atomics, and one tree beside the peers.
#
#     bench/gpu.sh                 results in $OUT, or bench/results/
#
# Needs Python with CuPy, what vtree depends on, and pytest, hypothesis and array-api-strict for the
# tests; no network: wheels of pure Python in .wheels/ are used as they are. Peers that are not
# installed are left out; what fails or takes too long is said in the summary.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
out=${OUT:-bench/results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
summary=$out/gpu_summary.txt
limit=${SECONDS_IN_ALL:-470}
export PYTHONPATH=$PWD:$PWD/kernels
for wheel in .wheels/*.whl; do
    [[ -f $wheel ]] && PYTHONPATH=$PYTHONPATH:$PWD/$wheel
done
export NUMBA_CACHE_DIR=${NUMBA_CACHE_DIR:-${TMPDIR:-/tmp}/vtree_numba_cache}
python=${PYTHON:-python3}
failures=0

# step NAME SECONDS COMMAND…: run with a limit, keep all it prints, add the end to the summary.
step() {
    local name=$1 seconds=$2 left=$((limit - SECONDS)) status
    shift 2
    ((left < seconds)) && seconds=$left
    if ((seconds < 5)); then
        printf '\n== %s: no time left\n' "$name" | tee -a "$summary"
        failures=$((failures + 1))
        return
    fi
    local began=$SECONDS
    timeout "$seconds" "$@" >"$out/gpu_$name.txt" 2>&1
    status=$?
    {
        printf '\n== %s: ' "$name"
        case $status in
            0) printf 'done' ;;
            124) printf 'stopped after %d s' "$seconds" ;;
            *) printf 'failed (%d)' "$status" ;;
        esac
        printf ', %d s\n' "$((SECONDS - began))"
        tail -n 40 "$out/gpu_$name.txt"
    } | tee -a "$summary"
    ((status == 0)) || failures=$((failures + 1))
}

: >"$summary"
{
    date -u +%FT%TZ
    git rev-parse HEAD 2>/dev/null
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
    "$python" -c 'import cupy; print("CuPy", cupy.__version__, cupy.cuda.runtime.runtimeGetVersion())'
} 2>&1 | tee -a "$summary"

threads=$(nproc)
step atomics 40 "$python" bench/bench_atomics.py --results "$out"
# Without the options of pyproject.toml, which ask for plugins that may not be installed.
step tests 130 "$python" -m pytest -o addopts= -o filterwarnings=default -p no:cacheprovider -q \
    --import-mode=importlib -m cuda tests/kernels tests/test_cuda_path.py \
    tests/estimators/test_devices.py
kernel() {
    step "$1" "$2" "$python" "bench/bench_$1.py" --repeats 3 --threads "$threads" \
        --results "$out" "${@:3}"
}
kernel histogram 60 --only '28 features'
kernel scan 40
kernel subtree 30 --rows 200000
kernel search 30 --rows 400000
step compare 120 "$python" bench/compare.py --rows 1000000 100000 --features 28 --classes 2 \
    --depth 10 --missing 0 --repeats 1 --threads "$threads" --results "$out"
kernel route 40
kernel bincode 40
kernel differ 20
kernel traverse 40
kernel joint 20 --rows 100000
printf '\n%d of the steps failed or were stopped; %d s in all\n' "$failures" "$SECONDS" \
    | tee -a "$summary"
"$python" - "$out" <<'PYTHON' | tee -a "$summary"
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
rows = {p.stem: [json.loads(line) for line in p.open()] for p in sorted(folder.glob("*.jsonl"))}
(folder / "gpu.json").write_text(json.dumps(rows, indent=1))
print(f"{sum(map(len, rows.values()))} rows in gpu.json")
PYTHON
((failures == 0))
