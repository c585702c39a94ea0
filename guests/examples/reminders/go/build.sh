#!/bin/sh
# Builds the guest into $OUT.
set -e
cd "$(dirname "$0")"
CGO_ENABLED=0 GOOS=wasip1 GOARCH=wasm go build -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w' -o "${OUT:-raw.wasm}" .
