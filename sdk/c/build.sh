#!/bin/sh
# Builds a guest: build.sh OUT FILE.c … Any clang from 14 with wasm-ld will do; there is no libc.
set -e
sdk=$(cd "$(dirname "$0")" && pwd) out=$1 tmp=$(mktemp -d)
shift
trap 'rm -rf "$tmp"' EXIT
n=0
for file in "$sdk/alcove.c" "$@"; do
	n=$((n + 1))
	"${CLANG:-clang}" --target=wasm32 -std=c11 -O2 -ffreestanding -fno-builtin -nostdlib -mbulk-memory -ffunction-sections -fdata-sections \
		-Wall -Wextra -I "$sdk" -c "$file" -o "$tmp/$n.o"
done
# Memory for requests of about 1 MiB: one that needs more makes the next one slower.
"${WASM_LD:-wasm-ld}" --no-entry --gc-sections --strip-all -z stack-size=131072 --initial-memory=4194304 "$tmp"/*.o -o "$out"
