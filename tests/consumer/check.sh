#!/usr/bin/env bash
# check.sh BUILD COMPILER: installs BUILD into a temporary prefix and builds a client against it,
# once through find_package and once through pkg-config, and one as if
# it were built for TensorRT.
set -euo pipefail
build=$1 compiler=$2
source=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/consumer"

pc=$(dirname "$(find "$work/prefix" -name camshaft.pc)")
flags=$(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$work/prefix" --cflags --libs camshaft)
# shellcheck disable=SC2086  # flags are several words
"$compiler" -std=c++17 "$source/main.cpp" -o "$work/by_pkg_config" $flags
LD_LIBRARY_PATH=$(dirname "$pc") "$work/by_pkg_config"

"$source/stand_in.sh" "$work/prefix" "$compiler"
