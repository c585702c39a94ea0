#!/bin/sh
# Tests the family natively.
cd "$(dirname "$0")" && sh ../build.sh --test family.zig
