#!/bin/sh
# Builds raw.wasm.
sdk=../
cd "$(dirname "$0")" && SDK=${sdk%/} sh ${sdk}build.sh "${OUT:-raw.wasm}" family.ts
