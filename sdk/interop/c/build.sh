#!/bin/sh
# Builds the guest into $OUT.
cd "$(dirname "$0")" && sh ../../c/build.sh "${OUT:-raw.wasm}" family.c
