#!/bin/sh
# Builds the guest into $OUT.
cd "$(dirname "$0")" && SDK=../../assemblyscript sh ../../assemblyscript/build.sh "${OUT:-raw.wasm}" family.ts
