#!/usr/bin/env bash
# wheel.sh SOURCE PYTHON COMPILER: packs the Python package, installs it into an environment that
# sees nothing of SOURCE, and builds, saves and runs a model there, by the module and by the tools
# beside it.
set -euo pipefail
source=$1 python=$2
# By the name under which ccache has seen it.
export CXX=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m pip wheel -q --no-build-isolation --no-deps -w "$work" "$source"
du -h "$work"/*.whl
"$python" -m venv --system-site-packages "$work/env"
# The packages of the environment it is called from, numpy and onnx, without our own.
site=$("$python" -c 'import numpy, pathlib; print(pathlib.Path(numpy.__file__).parents[1])')
echo "$site" >"$("$work/env/bin/python" -c 'import site; print(site.getsitepackages()[0])')/others.pth"
"$work/env/bin/python" -m pip install -q --no-deps --no-index "$work"/*.whl
cd "$work"
env -u PYTHONPATH "$work/env/bin/python" "$here/wheel.py" "$work/env"
