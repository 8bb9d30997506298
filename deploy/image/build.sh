#!/bin/sh
# Builds the image of both commands: deploy/image/build.sh [TAG]. TAG is covey:local if not given.
# BIN names a folder of binaries that deploy/build.sh made; without it they are built here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
if [ -n "${BIN:-}" ]; then
  cp "$BIN/coordinator" "$BIN/agent" "$BIN/once" "$context/"
else
  GOOS=linux "$here/../build.sh" "$context"
fi
chmod 0755 "$context/coordinator" "$context/agent" "$context/once"
# Nothing in the image can make folders; a volume takes over owner and mode of the image's.
mkdir -m 0700 "$context/data" "$context/handover" "$context/nodes"
${DOCKER:-docker} build -q -t "${1:-covey:local}" -f "$here/Dockerfile" "$context"
