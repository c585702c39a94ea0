// The configuration of MicroPython as the engine of families: everything that computes, and nothing that reaches outside.
#include <alloca.h>
#include <stdint.h>

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)

typedef int32_t mp_int_t;
typedef uint32_t mp_uint_t;
typedef long mp_off_t;
#define MP_SSIZE_MAX (0x7fffffff)
#define UINT_FMT "%u"
#define INT_FMT "%d"
#define MP_STATE_PORT MP_STATE_VM
#define MICROPY_HW_BOARD_NAME "alcove"
#define MICROPY_HW_MCU_NAME "wasm32"
#define MICROPY_PY_SYS_PLATFORM "alcove"

#define MICROPY_NLR_SETJMP (1)
#define MICROPY_STACKLESS (1) // calls of Python nest in the stack of Python: see collected of engine.c
#define MICROPY_STACKLESS_STRICT (1)
#define MICROPY_ENABLE_PYSTACK (1)
#define MICROPY_ENABLE_GC (1)
#define MICROPY_GC_SPLIT_HEAP (1)
#define MICROPY_GC_SPLIT_HEAP_AUTO (1)
#define MICROPY_GC_ALLOC_THRESHOLD (1)
#define MICROPY_ENABLE_FINALISER (0)
#define MICROPY_STACK_CHECK (1)
#define MICROPY_STACK_CHECK_MARGIN (16 << 10)
#define MICROPY_ALLOC_PATH_MAX (512)
#define MICROPY_READER_VFS (0)
#define MICROPY_PERSISTENT_CODE_LOAD (1)
#define MICROPY_HAS_FILE_READER (1) // for libraries, which are bytecode
#define MICROPY_VFS (0)
#define MICROPY_ENABLE_SCHEDULER (0)
#define MICROPY_KBD_EXCEPTION (0)
#define MICROPY_HELPER_REPL (0)
#define MICROPY_ERROR_REPORTING (MICROPY_ERROR_REPORTING_DETAILED)
#define MICROPY_LONGINT_IMPL (MICROPY_LONGINT_IMPL_MPZ)
#define MICROPY_FLOAT_IMPL (MICROPY_FLOAT_IMPL_DOUBLE)
#define MICROPY_USE_INTERNAL_PRINTF (0)
#define MICROPY_USE_INTERNAL_ERRNO (1)
#define MICROPY_OPT_COMPUTED_GOTO (0)
#define MICROPY_OPT_MAP_LOOKUP_CACHE (0) // map.c has its own order
#define MICROPY_ENABLE_EMERGENCY_EXCEPTION_BUF (1)
#define MICROPY_EMERGENCY_EXCEPTION_BUF_SIZE (512)
#define MICROPY_PY_FUNCTION_ATTRS (1)
#define MICROPY_PY_STR_BYTES_CMP_WARN (0)

#define MICROPY_PY_GC (0)
#define MICROPY_PY_MICROPYTHON (0)
#define MICROPY_PY_ERRNO (0)
#define MICROPY_PY_SELECT (0)
#define MICROPY_PY_ASYNCIO (0)
#define MICROPY_PY_UCTYPES (0)
#define MICROPY_PY_DEFLATE (0)
#define MICROPY_PY_JSON (0)   // lib/json.py
#define MICROPY_PY_RE (0)     // lib/re.py
#define MICROPY_PY_RANDOM (0) // lib/random.py
#define MICROPY_PY_TIME (0)   // lib/time.py
#define MICROPY_PY_OS (0)
#define MICROPY_PY_FRAMEBUF (0)
#define MICROPY_PY_PLATFORM (0)
#define MICROPY_PY_MACHINE (0)
#define MICROPY_PY_THREAD (0)
#define MICROPY_PY_HASHLIB (1)
#define MICROPY_PY_HASHLIB_SHA256 (1)
#define MICROPY_PY_SYS_STDFILES (0)
#define MICROPY_PY_SYS_PS1_PS2 (0)
#define MICROPY_PY_SYS_EXIT (1)
#define MICROPY_PY_SYS_MODULES (1)
#define MICROPY_PY_SYS_MAXSIZE (1)
#define MICROPY_PY_IO_FILEIO (0)
#define MICROPY_PY_BUILTINS_INPUT (0)
#define MICROPY_PY_BUILTINS_HELP (0)
#define MICROPY_PY_BUILTINS_EXECFILE (0)
#define MICROPY_PY_BUILTINS_STR_CENTER (1)
#define MICROPY_PY_BUILTINS_STR_PARTITION (1)
#define MICROPY_PY_BUILTINS_STR_SPLITLINES (1)
#define MICROPY_PY_BUILTINS_ROUND_INT (1)
#define MICROPY_PY_ALL_INPLACE_SPECIAL_METHODS (1)
#define MICROPY_PY_MATH_GAMMA_FIX_NEGINF (0)
#define MICROPY_PY_MATH_SPECIAL_FUNCTIONS (1)

// What engine.c and map.c put in their places.
#define MICROPY_WRAP_MP_MAP_LOOKUP(f) f##_hashed
#define MICROPY_WRAP_MP_EXECUTE_BYTECODE(f) f##_nested
extern unsigned alcove_depth, alcove_due;
void alcove_collect(void);
void *alcove_heap(unsigned long size);
#define MICROPY_VM_HOOK_LOOP if (alcove_depth == 1 && MP_STATE_MEM(gc_alloc_amount) > alcove_due) alcove_collect();
#define MICROPY_VM_HOOK_RETURN MICROPY_VM_HOOK_LOOP
#define MP_PLAT_ALLOC_HEAP(size) alcove_heap(size)
#define MP_PLAT_FREE_HEAP(at)
