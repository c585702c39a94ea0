#!/bin/sh
# Tests the family natively.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
c=../
[ -e "$c/alcove.c" ] || c=../../c
"${CC:-cc}" -std=c11 -g -I "$c" -c "$c/alcove.c" -o "$tmp/alcove.o"
"${CXX:-c++}" -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -g -I "$c" -I ../ family_test.cpp family.cpp "$tmp/alcove.o" -o "$tmp/test"
"$tmp/test"
