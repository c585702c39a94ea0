#!/bin/sh
# Tests the SDK natively.
cd "$(dirname "$0")" && sh build.sh --test sdk_test.zig
