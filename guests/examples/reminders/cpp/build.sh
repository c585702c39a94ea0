#!/bin/sh
# Builds the guest into $OUT.
cd "$(dirname "$0")" && sh ../../../../sdk/cpp/build.sh "${OUT:-raw.wasm}" family.cpp
