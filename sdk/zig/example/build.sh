#!/bin/sh
# Generates manifest.json from family.zig, and builds raw.wasm.
cd "$(dirname "$0")" && "${ALCOVE:-alcove}" family gen family.zig && sh ../build.sh "${OUT:-raw.wasm}" family.zig
