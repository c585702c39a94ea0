#!/bin/sh
# Tests the family natively: the same as cargo test.
set -e
cd "$(dirname "$0")"
rustc=${RUSTC:-rustc} sdk=../../../sdk/rust/ tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$rustc" --edition 2021 --crate-name alcove --crate-type rlib -o "$tmp/libalcove.rlib" "${sdk}src/lib.rs"
"$rustc" --edition 2021 --crate-name family --test --extern alcove="$tmp/libalcove.rlib" -o "$tmp/test" family.rs
"$tmp/test" -q
