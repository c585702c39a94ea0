#!/bin/sh
# Generates manifest.json from family.c, and builds raw.wasm.
cd "$(dirname "$0")" && "${ALCOVE:-alcove}" family gen family.c && sh ../build.sh "${OUT:-raw.wasm}" family.c
