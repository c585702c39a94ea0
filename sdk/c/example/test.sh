#!/bin/sh
# Tests the family natively.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"${CC:-cc}" -std=c11 -Wall -Wextra -g -I ../ family_test.c family.c ../alcove.c -o "$tmp/test"
"$tmp/test"
