#!/bin/sh
# Writes the three locks from pyproject.toml. They carry hashes and name no index host, so they install from any
# index or mirror. uv itself is pinned here and kept out of the locks: only this script needs it.
set -eu
cd "$(dirname "$0")/.."
resolver=.cache/lock
[ -x "$resolver/bin/uv" ] || {
  "${PYTHON:-python3}" -m venv "$resolver"
  "$resolver/bin/python" -m pip install -qq --disable-pip-version-check "uv==0.13.9"
}
compile() {
  output=$1
  shift
  "$resolver/bin/uv" pip compile "$@" --quiet --upgrade --universal --python-version 3.11 \
    --generate-hashes --no-header --output-file "requirements/$output"
}
compile runtime.lock pyproject.toml
compile build.lock --group pyproject.toml:editable
compile development.lock pyproject.toml --group test --group check --group build
