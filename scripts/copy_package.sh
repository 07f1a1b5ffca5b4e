#!/bin/bash
# Copies what is Python in the package to OUT/camshaft.
#
#   scripts/copy_package.sh OUT
set -euo pipefail
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")/../python"
find camshaft \( -name '*.py' -o -name '*.pyi' -o -name '*.html' -o -name '*.css' -o -name '*.js' -o -name py.typed \) \
  -exec cp --parents -t "$out" {} +
