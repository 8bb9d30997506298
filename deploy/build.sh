#!/bin/sh
# Builds the commands, and the image's once, as static binaries: deploy/build.sh [DIR]. DIR is deploy/bin if not given.
# The version is COVEY_VERSION, or what git describes; GOOS and GOARCH build for other machines.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/deploy/bin}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$root"
version=${COVEY_VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
set -- ./cmd/coordinator ./cmd/agent ./cmd/analyst
[ "${GOOS:-}" = windows ] || set -- "$@" ./deploy/image/once
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X covey/internal/frame.version=$version" \
  -o "$out/" "$@"
echo "built $* in $out, version $version" >&2
