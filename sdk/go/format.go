package alcove

import "strconv"

// sprintf formats as package fmt does, which a guest would grow by a half with. It knows %s, %v, %d and %w, %q for text, %x for whole
// numbers, and %g and %.2f for numbers. A value of another type is shown as its verb.
func sprintf(format string, arguments []any) string {
	if len(arguments) == 0 {
		return format
	}
	var out []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out = append(out, format[i])
			continue
		}
		i++
		precision := -1
		if format[i] == '.' && i+2 < len(format) {
			precision = int(format[i+1] - '0')
			i += 2
		}
		switch {
		case format[i] == '%':
			out = append(out, '%')
		case len(arguments) == 0:
			out = append(out, '%', format[i])
		default:
			out = appendValue(out, format[i], precision, arguments[0])
			arguments = arguments[1:]
		}
	}
	return string(out)
}

func appendValue(out []byte, verb byte, precision int, v any) []byte {
	if n, ok := whole(v); ok {
		if verb == 'x' {
			return strconv.AppendUint(out, uint64(n), 16)
		}
		return strconv.AppendInt(out, n, 10)
	}
	switch v := v.(type) {
	case float64:
		return appendFloat(out, verb, precision, v, 64)
	case float32:
		return appendFloat(out, verb, precision, float64(v), 32)
	case bool:
		return strconv.AppendBool(out, v)
	case uint64:
		return strconv.AppendUint(out, v, 10)
	case []string:
		return appendTexts(out, verb, v)
	}
	text, ok := textOf(v)
	switch {
	case !ok:
		return append(out, '%', verb)
	case verb == 'q':
		return strconv.AppendQuote(out, text)
	}
	return append(out, text...)
}

func appendFloat(out []byte, verb byte, precision int, v float64, bits int) []byte {
	if verb != 'f' {
		verb = 'g'
	}
	return strconv.AppendFloat(out, v, verb, precision, bits)
}

func appendTexts(out []byte, verb byte, list []string) []byte {
	out = append(out, '[')
	for i, text := range list {
		if i > 0 {
			out = append(out, ' ')
		}
		out = appendValue(out, verb, -1, text)
	}
	return append(out, ']')
}

// whole is a whole number of any size that fits.
func whole(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint:
		return int64(v), true
	case uint8:
		return int64(v), true
	case Kind:
		return int64(v), true
	}
	return 0, false
}

// textOf is the text of a value that has one.
func textOf(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "<nil>", true
	case string:
		return v, true
	case []byte:
		return string(v), true
	case Raw:
		return string(v), true
	case error:
		return v.Error(), true
	case interface{ String() string }:
		return v.String(), true
	}
	return "", false
}
