#!/bin/sh
# Builds a guest, or runs the tests of a file natively: build.sh OUT FILE.zig, build.sh --test FILE.zig. ZIG names the compiler, 0.11 to 0.14.
set -e
sdk=$(cd "$(dirname "$0")" && pwd) zig=${ZIG:-zig} out=$1 file=$2 tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
case $("$zig" version) in 0.11.*) old=yes ;; esac
if [ "$out" = --test ]; then
	if [ "$old" ]; then
		"$zig" test --cache-dir "$tmp" --mod "alcove::$sdk/alcove.zig" --deps alcove "$file"
	else
		"$zig" test --cache-dir "$tmp" --dep alcove -Mroot="$file" -Malcove="$sdk/alcove.zig"
	fi
	exit
fi
target="-target wasm32-freestanding -mcpu generic+bulk_memory+sign_ext+nontrapping_fptoint -fstrip"
# Memory for requests of about 1 MiB: one that needs more makes the next one slower.
link="-rdynamic --stack 131072 --initial-memory=4194304 --cache-dir $tmp -femit-bin=$tmp/raw.wasm"
# All is checked as it runs: numbers that overflow, indices behind the end. The SDK is compiled to be small.
if [ "$old" ]; then
	"$zig" build-lib $target -O ReleaseSafe $link -dynamic --mod "alcove::$sdk/alcove.zig" --mod "family:alcove:$file" --deps alcove,family "$sdk/guest.zig"
else
	"$zig" build-exe $target -O ReleaseSafe $link -fno-entry --dep alcove --dep family -Mroot="$sdk/guest.zig" \
		$target -O ReleaseSmall -Malcove="$sdk/alcove.zig" $target -O ReleaseSafe --dep alcove -Mfamily="$file"
fi
mv "$tmp/raw.wasm" "$out"
