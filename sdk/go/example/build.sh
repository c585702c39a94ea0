#!/bin/sh
# Generates manifest.json and alcove_gen.go from the types of family.go, and builds raw.wasm.
set -e
cd "$(dirname "$0")"
echo "building; the first build compiles the standard library, which takes about a minute" >&2
go generate .
CGO_ENABLED=0 GOOS=wasip1 GOARCH=wasm go build -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w' -o "${OUT:-raw.wasm}" .
