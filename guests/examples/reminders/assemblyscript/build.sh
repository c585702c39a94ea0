#!/bin/sh
# Builds the guest into $OUT.
cd "$(dirname "$0")" && SDK=../../../../sdk/assemblyscript sh ../../../../sdk/assemblyscript/build.sh "${OUT:-raw.wasm}" family.ts
