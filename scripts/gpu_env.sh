# To be sourced: the environment in which programs of this tree run on a GPU machine, whether they
# were built there (build-gpu, build) or carried there (.gpu-carry). Sets
# CAMSHAFT_BUILD to that folder, and the paths of libraries and of the Python package.
_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for CAMSHAFT_BUILD in "$_root"/{build-gpu,build,.gpu-carry}; do
  [ ! -x "$CAMSHAFT_BUILD/bin/trtexec" ] || break
done
export CAMSHAFT_BUILD
export CAMSHAFT_CONFORMANCE="$_root/tests/conformance"
# CUDA's libraries as PyTorch brings them come first, so that it keeps its own.
_libraries=$CAMSHAFT_BUILD/lib:$_root/.gpu-carry/deps/lib
for _folder in $(python3 -c '
import glob, importlib.util
spec = importlib.util.find_spec("nvidia")
for place in spec.submodule_search_locations if spec else ():
    print(*glob.glob(place + "/*/lib"), sep="\n")') /usr/local/cuda/lib64; do
  [ ! -d "$_folder" ] || _libraries+=:$_folder
done
export LD_LIBRARY_PATH=$_libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PYTHONPATH=$CAMSHAFT_BUILD/python${PYTHONPATH:+:$PYTHONPATH}
python3 -c 'import pytest' 2>/dev/null || export PYTHONPATH=$PYTHONPATH:$_root/.gpu-carry/deps/python
unset _root _libraries _folder
