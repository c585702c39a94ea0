#!/bin/sh
# Says which version of its compiler each language has here, a line each; a language without one has no line.
cd "$(dirname "$0")" || exit 1
clang=${CLANG:-clang-14} rustc=${RUSTC:-/usr/bin/rustc} wat=${WAT:-wat2wasm}

if command -v "$clang" >/dev/null && command -v "${WASMLD:-wasm-ld-14}" >/dev/null; then
	echo "c $("$clang" --version | head -n 1)"
fi
if [ -x "$rustc" ] && [ -n "$(ls "$("$rustc" --print sysroot)"/lib/rustlib/wasm32-unknown-unknown/lib 2>/dev/null)" ]; then
	echo "rust $("$rustc" --version)"
fi
if command -v npm >/dev/null; then
	echo "assemblyscript $(sed -n 's/.*"assemblyscript": "\(.*\)".*/\1/p' assemblyscript/package.json)"
fi
if command -v "$wat" >/dev/null; then
	echo "wat $("$wat" --version)"
fi
