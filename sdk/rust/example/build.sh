#!/bin/sh
# Generates manifest.json from family.rs, and builds raw.wasm. Any rustc from 1.63 with the target wasm32-unknown-unknown will do; Cargo is not needed.
set -e
cd "$(dirname "$0")"
"${ALCOVE:-alcove}" family gen family.rs
rustc=${RUSTC:-rustc} sdk=../ out=${OUT:-raw.wasm} tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="--edition 2021 --target wasm32-unknown-unknown -C opt-level=3 -C panic=abort -C codegen-units=1"
"$rustc" $flags --crate-name alcove --crate-type rlib -C embed-bitcode=yes -o "$tmp/libalcove.rlib" "${sdk}src/lib.rs"
"$rustc" $flags --crate-name family --crate-type cdylib --extern alcove="$tmp/libalcove.rlib" -C lto -C strip=symbols \
	-C link-arg=-zstack-size=131072 -o "$out" family.rs
