#!/bin/sh
# Builds the engine of families in JavaScript: build.sh OUT.gz [SOURCES]
#
# SOURCES is the archive of QuickJS, which apt fetches where it is not given: Debian's source package, from Debian 13 on. The compiler is
# Debian 12's: clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32. The same compiler gives the same bytes.
set -e
version=2025.04.26-1
archive=quickjs_2025.04.26.orig.tar.xz
digest=ec81da5b3249ed648dbc7df4a1654988910e66a118d9b71cb63534216efcfbbe

here=$(cd "$(dirname "$0")" && pwd) out=$1 sources=$2 tmp=$(mktemp -d)
case $out in /*) ;; *) out=$PWD/$out ;; esac
case $sources in '' | /*) ;; *) sources=$PWD/$sources ;; esac
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
if [ -z "$sources" ]; then
	apt-get source --download-only "quickjs=$version" >/dev/null
	sources=$archive
fi
echo "$digest  $sources" | sha256sum --check --quiet
mkdir quickjs
tar -xf "$sources" --strip-components=1 -C quickjs

# The SDK as text in C.
{
	echo 'static const unsigned char sdk_js[] = {'
	od -An -v -tu1 "$here/alcove.js" | sed 's/ *\([0-9][0-9]*\)/\1,/g'
	echo '0};'
} >sdk.h

# EMSCRIPTEN selects what has no threads; the limit of the stack, which that leaves out, is there again.
objects=
for file in quickjs/quickjs.c quickjs/libregexp.c quickjs/libunicode.c quickjs/cutils.c quickjs/dtoa.c "$here/engine.c"; do
	object=$(basename "$file" .c).o
	"${CLANG:-clang-14}" --target=wasm32-wasi -std=gnu11 -O2 -DNDEBUG -DEMSCRIPTEN -DCONFIG_STACK_CHECK -DCONFIG_VERSION='"2025-04-26"' -mbulk-memory \
		-ffunction-sections -fdata-sections -fno-ident -w -I "$here/include" -I quickjs -I . -c "$file" -o "$object"
	objects="$objects $object"
done
# The stack comes first, so that one that overflows traps. Memory for small requests is there from the start.
"${WASM_LD:-wasm-ld-14}" --no-entry --gc-sections --strip-all --stack-first -z stack-size=524288 --initial-memory=4194304 $objects \
	-L /usr/lib/wasm32-wasi -lc -lm "$(${CLANG:-clang-14} --print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a" -o engine.wasm
gzip -9n <engine.wasm >"$out"
