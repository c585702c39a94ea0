#!/bin/sh
# Generates manifest.json from family.cpp, and builds raw.wasm.
cd "$(dirname "$0")" && "${ALCOVE:-alcove}" family gen family.cpp && sh ../build.sh "${OUT:-raw.wasm}" family.cpp
