#!/bin/sh
# Builds each committed guest whose compiler is here, and compares it with SHA256SUMS. Another version of a compiler
# may well give other bytes: then it only has to build.
cd "$(dirname "$0")" || exit 1
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT
here=$(./versions.sh)
failed=0
sum=sha256sum
command -v $sum >/dev/null || sum='shasum -a 256'

$sum --quiet --check SHA256SUMS || failed=1
while read -r language version; do
	is=$(echo "$here" | sed -n "s/^$language //p")
	if [ -z "$is" ]; then
		echo "$language: not built, its compiler is not installed (${version})"
	elif ! make --no-print-directory "$language" OUT="$out" >"$out/log" 2>&1; then
		if [ "$language" = assemblyscript ] && ! [ -d assemblyscript/node_modules ]; then
			echo "$language: not built, npm ci failed"
			continue
		fi
		echo "$language: it does not build:"
		cat "$out/log"
		failed=1
	elif cmp -s "$out/$language.wasm" "$language.wasm"; then
		echo "$language: the same bytes"
	elif [ "$is" = "$version" ]; then
		echo "$language: the sources give other bytes than are committed: make -C host/sandbox/testdata/guests sums"
		failed=1
	else
		echo "$language: built by $is; what is committed was built by $version"
	fi
done <VERSIONS
exit $failed
