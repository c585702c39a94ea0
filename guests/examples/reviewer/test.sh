#!/bin/sh
# Tests the family in Node.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
OUT="$tmp/raw.wasm" sh build.sh
node family_test.mjs "$tmp/raw.wasm"
