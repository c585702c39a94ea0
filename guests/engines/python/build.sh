#!/bin/sh
# Builds the engine of families in Python: build.sh OUT.gz [MICROPYTHON QUICKJS]
#
# The archives are those of MicroPython, and of QuickJS for its regular expressions and numbers. apt fetches them where they are not given:
# Debian's source packages, from Debian 13 on. The compiler is Debian 12's: clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32, with
# python3, make, libc6-dev and Go. The same compiler gives the same bytes.
set -e
version=1.25.0+ds-1
archive=micropython_1.25.0+ds.orig.tar.xz
digest=7b25be99a502f070b2de81dafc08da7051d992325d6e67daa9045a918fffdbea
quickjs_version=2025.04.26-1
quickjs_archive=quickjs_2025.04.26.orig.tar.xz
quickjs_digest=ec81da5b3249ed648dbc7df4a1654988910e66a118d9b71cb63534216efcfbbe

here=$(cd "$(dirname "$0")" && pwd)
absolute() { case $1 in '' | /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
out=$(absolute "$1") sources=$(absolute "$2") quickjs=$(absolute "$3")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
if [ -z "$sources" ]; then
	apt-get source --download-only "micropython=$version" >/dev/null
	apt-get source --download-only "quickjs=$quickjs_version" >/dev/null
	sources=$archive quickjs=$quickjs_archive
fi
printf '%s  %s\n' "$digest" "$sources" "$quickjs_digest" "$quickjs" | sha256sum --check --quiet
mkdir micropython quickjs
tar -xf "$sources" --strip-components=1 -C micropython
tar -xf "$quickjs" --strip-components=1 -C quickjs

# The libraries, compiled to bytecode.
make -s -C micropython/mpy-cross CC="${CLANG:-clang-14}" >/dev/null 2>&1
{
	for file in "$here"/lib/*.py; do
		name=$(basename "$file" .py)
		micropython/mpy-cross/build/mpy-cross -O0 -msmall-int-bits=31 -s "$name.py" -o "$name.mpy" "$file"
		echo "static const unsigned char lib_$name[] = {"
		od -An -v -tu1 "$name.mpy" | sed 's/ *\([0-9][0-9]*\)/\1,/g'
		echo '};'
	done
	echo 'static const struct { const char *name; const unsigned char *code; size_t length; } libraries[] = {'
	for file in "$here"/lib/*.py; do
		name=$(basename "$file" .py)
		echo "{\"$name.mpy\", lib_$name, sizeof lib_$name},"
	done
	echo '};'
} >lib.h

# What MicroPython has no settings for: where memory grows and where the next is looked for, where
# popitem begins, how floats are written, subclasses of dict as dicts, and slices
# with steps.
sed -i 's/size_t avail = gc_get_max_new_split();/size_t alcove_room(size_t); size_t avail = alcove_room(needed);/
	s/if (n_free == 1) {/if (n_free == n_blocks) {/' micropython/py/gc.c
sed -i 's/cur = self->map.used - 1;/size_t alcove_map_last(mp_map_t *); cur = alcove_map_last(\&self->map);/' micropython/py/objdict.c
sed -i 's/void mp_map_init(mp_map_t \*map, size_t n) {/void mp_map_init_hashed(mp_map_t *map, size_t n) {/' micropython/py/map.c
sed -i 's/mp_format_float(o_val, buf/int alcove_format_float(double, char *, size_t, char, int, char); alcove_format_float(o_val, buf/' micropython/py/objfloat.c

sed -i '/static mp_obj_t dict_update/,/^}/ s/args\[1\]/alcove_plain(args[1])/g; s/^static mp_obj_t dict_update/mp_obj_t alcove_plain(mp_obj_t);\n&/' micropython/py/objdict.c

sed -i 's/mp_raise_NotImplementedError(MP_ERROR_TEXT("only slices with step=1.*/mp_obj_t alcove_stepped(mp_obj_t, mp_obj_t); return alcove_stepped(self_in, index);/' \
	micropython/py/objstrunicode.c micropython/py/objstr.c micropython/py/objtuple.c

# An error that leaves thousands of functions tells the innermost ones.
sed -i 's|^    // append this traceback info to traceback data|    if (self->traceback_len >= 3 * 64) return;\n&|' micropython/py/objexcept.c

# Texts in every script, more of their methods, and a sort that keeps the order of what is equal.
sed -i 's/return str_caseconv(unichar_tolower, self_in)/mp_obj_t alcove_case(mp_obj_t, bool); return alcove_case(self_in, false)/
	s/return str_caseconv(unichar_toupper, self_in)/mp_obj_t alcove_case(mp_obj_t, bool); return alcove_case(self_in, true)/
	s/return str_uni_istype(unichar_isalpha, self_in)/mp_obj_t alcove_letters(mp_obj_t); return alcove_letters(self_in)/
	s/.*MP_QSTR_encode), MP_ROM_PTR.*/&\nMETHODS/
	s/^static const mp_rom_map_elem_t array_bytearray_str_bytes_locals_table.*/DECLARED\n&/' micropython/py/objstr.c
for method in capitalize title swapcase casefold ljust rjust zfill isalnum isidentifier removeprefix removesuffix translate; do
	sed -i "s/^METHODS/{ MP_ROM_QSTR(MP_QSTR_$method), MP_ROM_PTR(\&alcove_${method}_obj) },\n&/; s/^DECLARED/extern const mp_obj_fun_builtin_var_t alcove_${method}_obj;\n&/" micropython/py/objstr.c
done
sed -i '/^METHODS$/d; /^DECLARED$/d' micropython/py/objstr.c
sed -i 's/} else if (32 <= ch \&\& ch <= 126) {/} else if (ch >= 0xa1) { char one[4]; const byte *from = s; while (from-- > str_data \&\& (*from \& 0xc0) == 0x80) {} print->print_strn(print->data, (const char *)from, s - from); &/' micropython/py/objstrunicode.c
sed -i '/^        mp_quicksort(/,/;/c void alcove_sort(mp_obj_t *, size_t, mp_obj_t, bool); alcove_sort(self->items, self->len, args.key.u_obj == mp_const_none ? MP_OBJ_NULL : args.key.u_obj, args.reverse.u_bool);' micropython/py/objlist.c

flags="--target=wasm32-wasi -std=gnu11 -O2 -DNDEBUG -mbulk-memory -mllvm -enable-emscripten-sjlj -ffunction-sections -fdata-sections -fno-ident -w -I $here/include -I $here -I . -I micropython -I quickjs"
modules=$(cd micropython && ls py/*.c | grep -v -e /nativeglue.c -e /emitn -e /asm -e /emitinline -e /repl.c -e /builtinhelp.c -e /modthread.c -e /nlr[a-rt-z] -e /objint_longlong.c -e /frozenmod.c)
modules="$modules extmod/modbinascii.c extmod/modhashlib.c extmod/modheapq.c"
clang=${CLANG:-clang-14}

# The names and modules that the sources mention.
mkdir -p genhdr/qstr
SOURCE_DATE_EPOCH=0 python3 micropython/py/makeversionhdr.py genhdr/mpversion.h >/dev/null
sed -i 's/^#define MICROPY_GIT_HASH .*/#define MICROPY_GIT_HASH ""/; s/^#define MICROPY_BUILD_DATE .*/#define MICROPY_BUILD_DATE "1970-01-01"/' genhdr/mpversion.h
{
	for file in $modules; do $clang $flags -DNO_QSTR -E "micropython/$file"; done
	for file in engine json regexp map values; do $clang $flags -DNO_QSTR -E "$here/$file.c"; done
} >names.i
py=micropython/py
for kind in qstr module root_pointer; do
	python3 $py/makeqstrdefs.py split $kind names.i genhdr/$kind _ >/dev/null
	python3 $py/makeqstrdefs.py cat $kind _ genhdr/$kind genhdr/$kind.collected >/dev/null
done
cat $py/qstrdefs.h genhdr/qstr.collected | sed 's/^Q(.*)/"&"/' | $clang $flags -E - | sed 's/^"\(Q(.*)\)"/\1/' >genhdr/qstrdefs.preprocessed.h
python3 $py/makeqstrdata.py genhdr/qstrdefs.preprocessed.h >genhdr/qstrdefs.generated.h
python3 $py/makemoduledefs.py genhdr/module.collected >genhdr/moduledefs.h
python3 $py/make_root_pointers.py genhdr/root_pointer.collected >genhdr/root_pointers.h

objects=
for file in $modules; do
	object=$(echo "$file" | tr / _).o
	$clang $flags -c "micropython/$file" -o "$object"
	objects="$objects $object"
done
for file in "$here"/engine.c "$here"/jump.c "$here"/json.c "$here"/regexp.c "$here"/map.c "$here"/values.c quickjs/libregexp.c quickjs/libunicode.c quickjs/cutils.c quickjs/dtoa.c; do
	object=$(basename "$file" .c).o
	$clang $flags -DCONFIG_VERSION='""' -c "$file" -o "$object"
	objects="$objects $object"
done
# The stack comes first, so that one that overflows traps.
"${WASM_LD:-wasm-ld-14}" --no-entry --gc-sections --strip-all --stack-first -z stack-size=655360 --export=unwinding $objects \
	-L /usr/lib/wasm32-wasi -lc -lm "$($clang --print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a" -o linked.wasm
(cd "$here" && "${GO:-go}" run ../../build/unwind "$tmp/linked.wasm" "$tmp/engine.wasm")
gzip -9n <engine.wasm >"$out"
