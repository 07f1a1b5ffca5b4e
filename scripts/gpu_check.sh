#!/bin/bash
# Everything that is checked on a machine with a GPU, a table last.
#
#   scripts/gpu_check.sh [PART...]
#
#   build        compile this tree into build-gpu, with dependencies from .gpu-carry/deps if there
#   python       compile the Python module, where .gpu-carry has none for this interpreter
#   conformance  every operator against its definition, through compiler, engine and runtime
#   kernels      the unit tests of generated kernels and of the run half, on the GPU
#   libraries    cuBLASLt and cuDNN as they are called here
#   suite        the ONNX backend suite: nothing that passes on the CPU may fail
#   models       whole models against ONNX Runtime
#   bytes        quantised models on every kernel of their layers, byte by byte beside the CPU
#   trtexec      a model through trtexec, timed
#   batches      torchvision's and transformers' networks with a dynamic batch, beside PyTorch
#   loops        branches and loops, long enough that the host is far ahead, beside numpy
#   package      infer() on PyTorch tensors and numpy arrays
#   documents    the snippets of the documents that want a GPU
#   stress       8 threads with 8 contexts each
#   threads      16 Python threads that synchronise the device between runs, for a minute each on
#                our kernels and on the libraries'
#   sanitizer    compute-sanitizer over the conformance suite
#   bench        benchmarks/gpu/compare.py, with the arguments in BENCH
#   decode       benchmarks/gpu/decode.py, with the arguments in DECODE
#
# All but build, python, bench and decode run when no part is named. Logs and the table go to $OUT
# (build/gpu_check). JOBS, SECONDS_EACH (limit per part), STRESS_SECONDS, MODELS (of bytes) and
# FILTER (tests of conformance, kernels and sanitizer) are taken from the environment.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-build/gpu_check}
jobs=${JOBS:-$(nproc)}
limit=${SECONDS_EACH:-500}
mkdir -p "$out"
export PATH=$PATH:/usr/local/cuda/bin
parts=("$@")
[ $# -gt 0 ] || parts=(conformance kernels libraries suite models bytes trtexec batches loops
                       package documents stress threads sanitizer)

use_environment() { source scripts/gpu_env.sh; bin=$CAMSHAFT_BUILD/bin; }

# Runs a GoogleTest program in several processes and sums up: COUNT PROGRAM ARGUMENTS...
sharded() {
  local count=$1 shard folder status=0
  shift
  folder=$(mktemp -d)
  for ((shard = 0; shard < count; ++shard)); do
    (GTEST_TOTAL_SHARDS=$count GTEST_SHARD_INDEX=$shard "$@" >"$folder/$shard" 2>&1
     echo "shard $shard ended with status $?" >>"$folder/$shard") &
  done
  wait
  cat "$folder"/*
  grep -q "ended with status [^0]" "$folder"/* && status=1
  grep -q '^\[  PASSED  \] [1-9]' "$folder"/* || status=1  # nothing ran
  awk '/^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
       /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
       /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
       /ended with status [^0]/ { bad++ }
       END { printf "SUMMARY %d passed, %d failed, %d skipped, %d of the processes not with 0\n",
             passed, failed, skipped, bad }' "$folder"/*
  rm -rf "$folder"
  return $status
}

part_build() {
  local deps=()
  [ ! -d .gpu-carry/deps ] || deps=(-DCAMSHAFT_DEPS_DIR=.gpu-carry/deps)
  cmake -S . -B build-gpu -G Ninja "${deps[@]}" -DCAMSHAFT_PYTHON=OFF &&
    ninja -C build-gpu -j "$jobs" trtexec camshaft_trials conformance_test cuda_test cuda_runtime_test \
      camshaft_cuda_library gpu_stress library_check &&
    echo "SUMMARY built $(ls build-gpu/bin | wc -l) programs"
}

part_python() {
  local nanobind
  nanobind=$(python3 -c 'import nanobind, os; print(os.path.dirname(nanobind.__file__))' \
    2>/dev/null) || nanobind=.gpu-carry/deps/nanobind
  JOBS=$jobs NANOBIND=$nanobind scripts/build_python_module.sh \
    "$(command -v python3)" "$CAMSHAFT_BUILD/lib" "$CAMSHAFT_BUILD/python" &&
    python3 -c 'import camshaft; print("SUMMARY camshaft", camshaft.camshaft_version)'
}

# Hundreds of small builds: a process for the trials of each would take longer than they do.
part_conformance() { CAMSHAFT_TRIALS=none sharded "$jobs" "$bin/conformance_test" "--gtest_filter=${FILTER:-*cuda*}"; }

part_kernels() {
  local status=0
  export CAMSHAFT_TEST_DEVICE=1
  for program in cuda_test cuda_runtime_test; do
    sharded 4 "$bin/$program" "--gtest_filter=${FILTER:-*}" || status=1
  done
  return $status
}

part_libraries() {
  "$bin/library_check"
  local status=$?
  echo "SUMMARY library_check ended with $status"
  return $status
}

part_suite() {
  python3 tests/onnx_backend/run.py --device gpu --jobs "$jobs" --json "$out/suite.json"
  local status=$?
  tail -1 "$log" | sed 's/^/SUMMARY /'
  return $status
}

# One process per model: building one leaves most of the machine to the others.
part_models() {
  export CAMSHAFT_TEST_ENGINES=gpu
  python3 -m pytest -q --collect-only tests/models/test_models.py -k 'exported or tf32' \
    -p no:cacheprovider | grep :: |
    xargs -P $((jobs / 2 > 0 ? jobs / 2 : 1)) -I{} \
      timeout 200 python3 -m pytest -q -p no:cacheprovider '{}' 2>&1
  local status=$?
  echo "SUMMARY $(grep -c '^1 passed' "$log") models agree, $(grep -c '^FAILED' "$log") do not"
  return $status
}

# On machines without ONNX Runtime, of models that `quantised_check.py --write` left in MODELS.
part_bytes() { python3 tests/gpu/quantised_check.py ${MODELS:+--models "$MODELS"}; }

part_trtexec() {
  local model=$out/resnet50.onnx status
  python3 - "$model" <<'PYTHON' || return 1
import sys
sys.path.insert(0, "tests")
import onnx
from models import regenerate
onnx.save(regenerate.load("resnet50-dynamo20-static"), sys.argv[1])
PYTHON
  "$bin/trtexec" --onnx="$model" --fp16 --duration=2 --dumpProfile
  status=$?
  grep -q 'Selected Device: CPU' "$log" && status=1
  rm -f "$model"
  echo "SUMMARY $(grep -o 'GPU Compute Time: .*median = [0-9.]* ms' "$log" | sed 's/.*median/resnet50 fp16 median/')"
  return $status
}

part_batches() {
  python3 tests/gpu/dynamic_batch_check.py --jobs $((jobs / 2 > 0 ? jobs / 2 : 1)) \
    --seconds $((limit - 10)) --json "$out/batches.json"
}

part_loops() { python3 tests/gpu/loops_check.py; }

part_package() { python3 tests/gpu/torch_check.py; }

part_documents() {
  python3 -m pytest -q -p no:cacheprovider tests/documents -k 'gpu or pytorch'
  local status=$?
  tail -1 "$log" | sed 's/^/SUMMARY /'
  return $status
}

part_stress() {
  "$bin/gpu_stress" "${STRESS_SECONDS:-60}" 8 8
  local status=$?
  grep -q '^CPU:' "$log" && status=1
  tail -1 "$log" | sed 's/^/SUMMARY /'
  return $status
}

part_threads() { python3 tests/gpu/threads_check.py --seconds "${STRESS_SECONDS:-60}"; }

part_sanitizer() {
  # A call of CUDA that fails is an answer here (is this word a pointer?), not a finding.
  sharded 8 compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 86 \
    --print-limit 20 \
    "$bin/conformance_test" "--gtest_filter=${FILTER:-*cuda*}"
  local status=$?
  echo "SUMMARY $(grep -c 'ERROR SUMMARY: 0 errors' "$log") processes without errors of 8"
  return $status
}

part_bench() {
  # shellcheck disable=SC2086  # the arguments are words on purpose
  python3 benchmarks/gpu/compare.py --out "$out" ${BENCH:-}
}

part_decode() {
  # shellcheck disable=SC2086
  python3 benchmarks/gpu/decode.py ${DECODE:-}
}

use_environment
table="part        | result | seconds | summary"
failed=0
for part in "${parts[@]}"; do
  if ! declare -F "part_$part" >/dev/null; then
    echo "gpu_check: there is no part '$part'; see the head of $0" >&2
    exit 2
  fi
  echo "== $part"
  log=$out/$part.log
  start=$SECONDS
  # A session of its own, so that the limit ends what it started too.
  export -f sharded "part_$part"
  export bin out jobs limit log
  timeout -k 5 "$limit" bash -c "part_$part" >"$log" 2>&1
  status=$?
  case $status in
    0) result=passed ;;
    124 | 137) result="timeout" ;;
    *) result=FAILED ;;
  esac
  [ $status -eq 0 ] || failed=1
  [ $status -eq 0 ] || tail -n 15 "$log"
  [[ $part != bench && $part != decode ]] || cat "$log"
  summary=$(grep '^SUMMARY ' "$log" | sed 's/^SUMMARY //' | paste -sd';')
  table+=$(printf '\n%-11s | %-7s | %7d | %s' "$part" "$result" $((SECONDS - start)) "$summary")
  [ "$part" != build ] || use_environment
done
echo
echo "$table" | tee "$out/table.txt"
exit $failed
