#!/bin/sh
# Builds a guest: build.sh OUT FILE.cpp … Any clang from 14 with wasm-ld will do; there is no libc, and no standard library.
set -e
sdk=$(cd "$(dirname "$0")" && pwd) out=$1 tmp=$(mktemp -d)
shift
trap 'rm -rf "$tmp"' EXIT
c=$sdk
[ -e "$c/alcove.c" ] || c=$sdk/../c
flags="--target=wasm32 -O2 -ffreestanding -fno-builtin -nostdlib -mbulk-memory -ffunction-sections -fdata-sections -Wall -Wextra"
"${CLANG:-clang}" $flags -std=c11 -I "$c" -c "$c/alcove.c" -o "$tmp/0.o"
n=0
for file in "$@"; do
	n=$((n + 1))
	"${CLANG:-clang}" $flags -x c++ -std=c++20 -fno-exceptions -fno-rtti -I "$c" -I "$sdk" -c "$file" -o "$tmp/$n.o"
done
# Memory for requests of about 1 MiB: one that needs more makes the next one slower.
"${WASM_LD:-wasm-ld}" --no-entry --gc-sections --strip-all -z stack-size=131072 --initial-memory=4194304 "$tmp"/*.o -o "$out"
