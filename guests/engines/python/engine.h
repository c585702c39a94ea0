#include "py/obj.h"

// json.c
mp_obj_t json_read(const char *text, size_t length);
void json_write(vstr_t *to, mp_obj_t value);
extern const mp_obj_fun_builtin_fixed_t json_loads_obj;
extern const mp_obj_fun_builtin_var_t json_dumps_obj;

// values.c
size_t float_text(double value, char *to);
mp_obj_t alcove_plain(mp_obj_t value);

// regexp.c
extern const mp_obj_fun_builtin_fixed_t regexp_compile_obj, regexp_subject_obj;
extern const mp_obj_fun_builtin_var_t regexp_exec_obj;
