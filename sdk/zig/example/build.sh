#!/bin/sh
# Builds raw.wasm.
cd "$(dirname "$0")" && sh ../build.sh "${OUT:-raw.wasm}" family.zig
