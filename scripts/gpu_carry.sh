#!/bin/bash
# Fills .gpu-carry/ with what a GPU machine without network and packages needs besides the sources:
#
#   scripts/gpu_carry.sh [PYTHON]
#
#   bin/, lib/      this build's programs and libraries, stripped, and the libraries they need
#   python/         the package, compiled for PYTHON when one is given: any interpreter of the same
#                   minor version as the other machine's (its own folder may be elsewhere)
#   deps/           headers and libraries to build with there (-DCAMSHAFT_DEPS_DIR=.gpu-carry/deps),
#                   nanobind and pytest
#
# Run it after building trtexec, camshaft_trials, camshaft_cuda_library, conformance_test,
# cuda_test, cuda_runtime_test, gpu_stress and library_check. scripts/gpu_env.sh and gpu_check.sh
# find the folder by themselves. BUILD is the folder that was built in (build); for a GPU machine of
# another architecture one that cmake/Cross.cmake configured. The Python module is then compiled
# there (gpu_check.sh python).
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-} carry=.gpu-carry build=${BUILD:-build}
mkdir -p $carry/{bin,lib,python,deps/include,deps/lib}
cached() { sed -n "s/^$1:FILEPATH=//p" "$build/CMakeCache.txt"; }
strip=$(cached CMAKE_STRIP) highway=$(cached HIGHWAY_LIBRARY)

copy_stripped() {  # FILE TARGET
  if [ ! "$2" -nt "$1" ]; then
    cp "$1" "$2.new" && "$strip" --strip-unneeded "$2.new" && mv "$2.new" "$2"
  fi
}

carry_programs() {
  copy_stripped "$build/lib/libcamshaft.so.0" $carry/lib/libcamshaft.so.0
  # Links may not travel; this tells a linker the same.
  rm -f $carry/lib/libcamshaft.so
  echo 'INPUT(libcamshaft.so.0)' >$carry/lib/libcamshaft.so
  copy_stripped "$build/lib/libcamshaft_cuda.so" $carry/lib/libcamshaft_cuda.so
  for program in trtexec camshaft-trials conformance_test cuda_test cuda_runtime_test gpu_stress \
    library_check; do
    if [ -x "$build/bin/$program" ]; then
      copy_stripped "$build/bin/$program" "$carry/bin/$program"
    else
      echo "gpu_carry: $build/bin/$program is not built; it is left out" >&2
    fi
  done
  cp -L "$highway" $carry/lib/libhwy.so.1
}

carry_package() {
  scripts/copy_package.sh $carry/python
  [ -n "$python" ] || return 0
  # The objects stay here: they are no use there.
  mkdir -p "$build/python-for-gpu"
  NANOBIND=$nanobind OBJECTS="$build/python-for-gpu" \
    scripts/build_python_module.sh "$python" $carry/lib $carry/python
}

carry_programs

include=$(g++ -E -x c++ -M - <<<'#include <hwy/highway.h>' | tr ' ' '\n' | grep '/hwy/highway.h$')
include=${include%/hwy/highway.h}
rm -rf $carry/deps/include
mkdir -p $carry/deps/include
cp -r "$include"/{hwy,flatbuffers,protozero} "$build/generated/engine_generated.h" \
  $carry/deps/include/
rm -f $carry/deps/lib/*
cp $carry/lib/libhwy.so.* $carry/deps/lib/
cp $carry/lib/libhwy.so.* $carry/deps/lib/libhwy.so

# nanobind's sources, where the other machine has to compile the module itself.
nanobind=${NANOBIND:-$(echo .venv/lib/python3*/site-packages/nanobind)}
mkdir -p $carry/deps/nanobind
cp -r "$nanobind"/{include,src,ext} $carry/deps/nanobind/

# pytest, which the other machine may lack.
site=$(echo .venv/lib/python3*/site-packages)
mkdir -p $carry/deps/python
cp -r "$site"/{pytest,_pytest,pluggy,iniconfig,packaging,pygments,py.py} $carry/deps/python/
find $carry -name __pycache__ -prune -exec rm -rf {} +

carry_package
du -sh $carry | awk '{ print "gpu_carry: " $2 " has " $1 }'
