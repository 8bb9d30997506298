#!/bin/sh
# Makes a release: archives, Debian packages, checksums and a list of what is in them: deploy/release.sh [DIR].
# DIR is deploy/dist if not given, and must not hold anything. The version is COVEY_VERSION, or what git describes.
# The same commit and the same Go make the same bytes, wherever they are made (deploy/release).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/deploy/dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$root"
version=${COVEY_VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
exec go run ./deploy/release -version "$version" -time "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" ${TARGETS:+-targets "$TARGETS"} "$out"
