#!/bin/sh
# Tests the family natively.
set -e
cd "$(dirname "$0")"
sdk=../../../sdk/c tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"${CC:-cc}" -std=c11 -Wall -Wextra -g -I "$sdk" family_test.c family.c "$sdk/alcove.c" -o "$tmp/test"
"$tmp/test"
