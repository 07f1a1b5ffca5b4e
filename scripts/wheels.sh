#!/bin/bash
# Wheels for the interpreter of .venv, in dist/: `make wheels`.
#
#   scripts/wheels.sh [ARCH...]     x86_64, aarch64; both unless named
#
# The other machine's is cross-compiled, with the distribution's compiler and libraries for it,
# which are installed where they are missing (as root). A wheel runs on glibc of the machine that
# made it, or later, and its tag says so.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
here=$(uname -m)
declare -A debian=([x86_64]=amd64 [aarch64]=arm64)
tag=$("$python" -c 'import platform; print("manylinux_" + platform.libc_ver()[1].replace(".", "_"))')
stub=build/python/camshaft/_camshaft.pyi
mkdir -p dist

install_compiler() {
  local arch=$1 name=${debian[$1]} library=/usr/lib/$1-linux-gnu/libhwy.so
  if command -v "$arch-linux-gnu-g++" >/dev/null && [ -e "$library" ]; then return; fi
  if [ "$(id -u)" != 0 ]; then
    echo "wheels: run as root once: dpkg --add-architecture $name && apt-get update &&" \
      "apt-get install g++-${arch/_/-}-linux-gnu libhwy-dev:$name" >&2
    exit 1
  fi
  echo "wheels: installing a compiler for $arch"
  dpkg --add-architecture "$name"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "g++-${arch/_/-}-linux-gnu" "libhwy-dev:$name" >/dev/null
}

[ $# -gt 0 ] || set -- x86_64 aarch64
for arch in "$@"; do
  settings=(--config-settings "build-dir=build-wheel-$arch")
  environment=()
  if [ "$arch" != "$here" ]; then
    install_compiler "$arch"
    settings+=(--config-settings cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/Cross.cmake"
      --config-settings cmake.define.CAMSHAFT_ARCH="$arch"
      --config-settings cmake.define.CAMSHAFT_STUB="$PWD/$stub")
    suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
    environment=(_PYTHON_HOST_PLATFORM="linux-$arch" SETUPTOOLS_EXT_SUFFIX="${suffix/$here/$arch}")
  fi
  echo "wheels: packing for $arch"
  made=$(mktemp -d)
  env "${environment[@]}" "$python" -m pip wheel -q --no-build-isolation --no-deps "${settings[@]}" -w "$made" .
  "$python" -m wheel tags --remove --platform-tag "${tag}_$arch" "$made"/*.whl >/dev/null
  mv "$made"/*.whl dist/
  rmdir "$made"
done
ls -sh dist/*.whl
