#!/bin/sh
# The same as cargo test --lib.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"${RUSTC:-rustc}" --edition 2021 -D warnings --crate-name alcove --test src/lib.rs -o "$tmp/test"
"$tmp/test" -q
