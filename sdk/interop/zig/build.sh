#!/bin/sh
# Builds the guest into $OUT.
cd "$(dirname "$0")" && sh ../../zig/build.sh "${OUT:-raw.wasm}" family.zig
