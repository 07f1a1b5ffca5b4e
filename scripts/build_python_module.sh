#!/bin/bash
# Builds the Python package for one interpreter, against a libcamshaft.so that is built already.
#
#   scripts/build_python_module.sh PYTHON LIB_DIR OUT
#
# OUT/camshaft becomes importable where LIB_DIR lies at the same place relative to OUT. nanobind is
# taken from PYTHON, or from NANOBIND, the folder of its package. Objects are kept in OBJECTS
# (OUT/.objects), so that a second run compiles only what has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 lib=$(realpath "$2") out=$3

nanobind=${NANOBIND:-$("$python" -c 'import nanobind, os; print(os.path.dirname(nanobind.__file__))')}
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
objects=${OBJECTS:-$out/.objects}/${suffix#.}
mkdir -p "$objects" "$out/camshaft"

flags=(-std=c++20 -O2 -DNDEBUG -fPIC -fvisibility=hidden -fno-strict-aliasing
  -Iinclude "-I$headers" "-I$nanobind/include" "-I$nanobind/ext/robin_map/include")
newest_header=$(ls -t include/*.h python/bindings/*.h | head -1)
for source in python/bindings/*.cpp "$nanobind/src/nb_combined.cpp"; do
  object=$objects/$(basename "$source" .cpp).o
  if [ ! "$object" -nt "$source" ] || [ ! "$object" -nt "$newest_header" ]; then
    echo "$source $object"
  fi
done | xargs -r -L 1 -P "${JOBS:-$(nproc)}" sh -c 'g++ '"${flags[*]}"' -c "$0" -o "$1"'

relative=$(realpath --relative-to="$out/camshaft" "$lib")
g++ -shared -s -o "$out/camshaft/_camshaft$suffix" "$objects"/*.o "-L$lib" -lcamshaft \
  "-Wl,-rpath,\$ORIGIN/$relative" "-Wl,-rpath-link,$lib" -Wl,--gc-sections
scripts/copy_package.sh "$out"
echo "built $out/camshaft/_camshaft$suffix"
