#!/bin/sh
# Generates manifest.json from family.ts, and builds raw.wasm.
sdk=../
cd "$(dirname "$0")" && "${ALCOVE:-alcove}" family gen family.ts && SDK=${sdk%/} sh ${sdk}build.sh "${OUT:-raw.wasm}" family.ts
