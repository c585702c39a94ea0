#!/bin/sh
# Generates manifest.json and alcove_gen.go from the types of family.go, and builds raw.wasm.
set -e
cd "$(dirname "$0")"
echo "building; the first build compiles the standard library, which takes about a minute" >&2
if [ -t 2 ]; then
	(s=0 && while sleep 5 >/dev/null 2>&1; do s=$((s + 5)) && echo "building: $s s" >&2; done) &
	trap "kill $!" EXIT
fi
go generate .
CGO_ENABLED=0 GOOS=wasip1 GOARCH=wasm go build -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w' -o "${OUT:-raw.wasm}" .
