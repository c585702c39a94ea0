// Makes a C++ program a tool family of Alcove: the SDK for C, whose names that are words of C++ have an underscore, with typed handlers. README.md
// has an example and the build line. There is no standard library, and there are no exceptions: an error is a status.
#ifndef ALCOVE_HPP
#define ALCOVE_HPP

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#define namespace namespace_
#define operator operator_
#define private private_
#define _Noreturn [[noreturn]]
#include "alcove.h"
#undef namespace
#undef operator
#undef private
#undef _Noreturn
}

#undef ALCOVE_TEXT
#define ALCOVE_TEXT(literal) (alcove_text{literal, sizeof(literal) - 1})
// A member whose name in JSON is another, such as a word of C++.
#define ALCOVE_MUST_AS(type, field, name, is) {name, offsetof(type, field), false, &alcove_is_##is}
#define ALCOVE_MAY_AS(type, field, name, is) {name, offsetof(type, field), true, &alcove_is_##is}

namespace alcove {

template <class Handle> struct signature;
template <class In, class Out> struct signature<alcove_status (*)(alcove_call &, const In &, Out &)> {
  using in = In;
  using out = Out;
};

template <auto handle> alcove_status untyped(alcove_call *c, const void *in, void *out) {
  using types = signature<decltype(handle)>;
  return handle(*c, *static_cast<const typename types::in *>(in), *static_cast<typename types::out *>(out));
}

// A tool or a job: a function of the call, its arguments, and its result, which is zero.
template <auto handle> constexpr alcove_handler handler(const char *name, const alcove_type &in, const alcove_type &out) {
  return {name, untyped<handle>, &in, &out};
}

// Zeroed memory of the request for some values.
template <class T> T *some(size_t n = 1) { return static_cast<T *>(alcove_alloc(n * sizeof(T))); }

} // namespace alcove

#endif
