#!/bin/sh
# Tests the SDK natively, with the compiler's checks of memory and undefined behaviour.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -I . alcove_test.c alcove.c -o "$tmp/test"
"$tmp/test"
