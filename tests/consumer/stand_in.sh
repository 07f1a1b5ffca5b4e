#!/usr/bin/env bash
# stand_in.sh PREFIX COMPILER: programs that were linked with TensorRT run with PREFIX/lib/tensorrt
# on the library path, and those that are linked anew find what they ask for there.
set -euo pipefail
prefix=$1 compiler=$2
source=$(cd "$(dirname "$0")" && pwd)
folder=$(dirname "$(find "$prefix" -name libnvinfer.so.10)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What TensorRT's library looks like to a linker: its soname, and the functions that headers call.
mkdir "$work/theirs"
for name in nvinfer nvonnxparser nvinfer_plugin; do
  for function in createInferBuilder_INTERNAL createInferRuntime_INTERNAL getInferLibVersion; do
    echo "void $function() {}"
  done | "$compiler" -shared -fPIC -x c - -Wl,-soname,lib$name.so.10 -o "$work/theirs/lib$name.so"
done
"$compiler" -std=c++17 -I"$prefix/include/camshaft" "$source/main.cpp" -o "$work/linked_with_theirs" \
  -L"$work/theirs" -Wl,--no-as-needed -lnvinfer -lnvonnxparser -lnvinfer_plugin
if readelf -d "$work/linked_with_theirs" | grep -q libcamshaft; then exit 1; fi
LD_LIBRARY_PATH=$folder "$work/linked_with_theirs"

"$compiler" -std=c++17 -I"$prefix/include/camshaft" "$source/main.cpp" -o "$work/linked_with_ours" \
  -L"$folder" -lnvinfer
LD_LIBRARY_PATH=$folder/.. "$work/linked_with_ours"

# By name, as plugin libraries and runtimes are loaded. The runtime alone builds nothing.
cat >"$work/load.c" <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  return !dlsym(library, arguments[2]) == (count == 3);
}
EOF
"$compiler" -x c "$work/load.c" -o "$work/load" -ldl
export LD_LIBRARY_PATH=$folder
for suffix in so so.10; do
  "$work/load" libnvinfer_plugin.$suffix getPluginRegistry
  for name in nvinfer_lean nvinfer_dispatch; do
    "$work/load" lib$name.$suffix createInferRuntime_INTERNAL
    "$work/load" lib$name.$suffix createInferBuilder_INTERNAL absent
  done
done
