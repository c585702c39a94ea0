#!/bin/sh
# Builds the guest into $OUT.
cd "$(dirname "$0")" && sh ../../../../sdk/c/build.sh "${OUT:-raw.wasm}" family.c
