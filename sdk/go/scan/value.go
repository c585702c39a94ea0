package scan

import "unsafe"

// Value is a place that one JSON value is read into and written from. The functions that make one say in which form.
type Value struct {
	at  unsafe.Pointer
	one function // of the value, or of the elements of a list or a map, or of what a pointer points to
	of  compound // nil for what is none
}

// function reads or writes what a pointer points to.
type function func(unsafe.Pointer, *Coder)

// untyped is a function of pointers to any type: all are called alike. Fields of all types are read and written by the same code with it,
// and the types do not become interfaces, whose descriptions are a third of a guest.
func untyped[T any](code func(*T, *Coder)) function { return *(*function)(unsafe.Pointer(&code)) }

// compound is a list, a map or a pointer. There is code for each type of them, so it does only what needs to know the type.
type compound interface {
	code(one function, c *Coder)
	// element gives the address of an element of a list, which it appends if it is the next one, or of what it makes for a pointer.
	element(i int) unsafe.Pointer
}

// CodeJSON reads or writes the value.
func (v Value) CodeJSON(c *Coder) {
	if v.of == nil {
		v.one(v.at, c)
	} else {
		v.of.code(v.one, c)
	}
}

// Of is what a function reads or writes.
func Of[T any](at *T, code func(*T, *Coder)) Value {
	return Value{at: unsafe.Pointer(at), one: untyped(code)}
}

// Text is a string. Null is empty.
func Text[T ~string](at *T) Value { return Value{at: unsafe.Pointer(at), one: codeText} }

// Bool is true or false. Null is false.
func Bool[T ~bool](at *T) Value { return Value{at: unsafe.Pointer(at), one: codeBool} }

// Int is a whole number. Null is 0.
func Int[T ~int](at *T) Value { return Value{at: unsafe.Pointer(at), one: codeInt} }

// Uint is a whole number that is not negative. Null is 0.
func Uint[T ~uint64](at *T) Value { return Value{at: unsafe.Pointer(at), one: codeUint} }

// Number is a number. Null is 0.
func Number[T ~float64](at *T) Value { return Value{at: unsafe.Pointer(at), one: codeNumber} }

// Raw is JSON of any form. It is written as null where it is empty.
func Raw[T ~[]byte](at *T) Value { return Value{at: unsafe.Pointer(at), one: codeRaw} }

// Texts is a list of strings. Null is nil, and a string alone a list of one.
func Texts[T ~[]string](at *T) Value { return Value{at: unsafe.Pointer(at), one: codeTexts} }

// List is a list of what a function reads or writes. Null is nil, and a value that is no list a list of one.
func List[T any](at *[]T, code func(*T, *Coder)) Value {
	return Value{one: untyped(code), of: (*list[T])(at)}
}

type list[T any] []T

func (l *list[T]) code(one function, c *Coder) { codeList(l, (*[]struct{})(unsafe.Pointer(l)), one, c) }

func (l *list[T]) element(i int) unsafe.Pointer {
	if i == len(*l) {
		*l = append(*l, *new(T))
	}
	return unsafe.Pointer(&(*l)[i])
}

func codeList(of compound, l *[]struct{}, one function, c *Coder) {
	if c.Scanner == nil {
		c.Writer.List(len(*l), func(i int) { one(of.element(i), c) })
		return
	}
	if *l = nil; c.Scanner.Null() {
		return
	}
	*l = []struct{}{}
	c.Scanner.elements(of, one, c)
}

// elements goes through a list as Many does, without an iterator for each.
func (s *Scanner) elements(of compound, one function, c *Coder) {
	if s.peek() != '[' {
		if s.err == nil {
			one(of.element(0), c)
		}
		return
	}
	s.open('[', "a list")
	for i := 0; s.more(']'); i++ {
		one(of.element(i), c)
	}
}

// Pointer is what a function reads or writes, or null, which is nil.
func Pointer[T any](at **T, code func(*T, *Coder)) Value {
	return Value{one: untyped(code), of: (*pointer[T])(unsafe.Pointer(at))}
}

type pointer[T any] struct{ to *T }

func (p *pointer[T]) code(one function, c *Coder) { codePointer(p, unsafe.Pointer(p.to), one, c) }

func (p *pointer[T]) element(i int) unsafe.Pointer {
	if p.to = nil; i == 0 {
		p.to = new(T)
	}
	return unsafe.Pointer(p.to)
}

func codePointer(of compound, to unsafe.Pointer, one function, c *Coder) {
	switch {
	case c.Scanner == nil && to == nil:
		c.Writer.Null()
	case c.Scanner == nil:
		one(to, c)
	case c.Scanner.Null():
		of.element(-1)
	default:
		one(of.element(0), c)
	}
}

// Map is an object of what a function reads or writes, in the order of the names. Null is nil.
func Map[T any](at *map[string]T, code func(*T, *Coder)) Value {
	return Value{one: untyped(code), of: (*members[T])(at)}
}

type members[T any] map[string]T

func (m *members[T]) code(one function, c *Coder) {
	if c.Scanner == nil {
		WriteMap(c.Writer, *m, func(member T) { one(unsafe.Pointer(&member), c) })
		return
	}
	if *m = nil; c.Scanner.Null() {
		return
	}
	*m = map[string]T{}
	for key := range c.Scanner.Fields() {
		var member T
		one(unsafe.Pointer(&member), c)
		(*m)[key] = member
	}
}

func (*members[T]) element(int) unsafe.Pointer { return nil }

// CodeText reads or writes a string.
func CodeText[T ~string](v *T, c *Coder) { codeText(unsafe.Pointer(v), c) }

// CodeBool reads or writes true or false.
func CodeBool[T ~bool](v *T, c *Coder) { codeBool(unsafe.Pointer(v), c) }

// CodeInt reads or writes a whole number.
func CodeInt[T ~int | ~int8 | ~int16 | ~int32 | ~int64](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Int())
	} else {
		c.Writer.Int(int64(*v))
	}
}

// CodeUint reads or writes a whole number that is not negative.
func CodeUint[T ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Uint())
	} else {
		c.Writer.Uint(uint64(*v))
	}
}

// CodeNumber reads or writes a number.
func CodeNumber[T ~float64](v *T, c *Coder) { codeNumber(unsafe.Pointer(v), c) }

// CodeNumber32 reads or writes a number of half the precision.
func CodeNumber32[T ~float32](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Number())
	} else {
		c.Writer.Number32(float32(*v))
	}
}

// CodeRaw reads or writes JSON of any form.
func CodeRaw[T ~[]byte](v *T, c *Coder) { codeRaw(unsafe.Pointer(v), c) }

// CodeTexts reads or writes a list of strings.
func CodeTexts[T ~[]string](v *T, c *Coder) { codeTexts(unsafe.Pointer(v), c) }

// CodeAny reads a value as Scanner.Any does, or writes one as Writer.Any does.
func CodeAny(v *any, c *Coder) {
	if c.Scanner != nil {
		*v = c.Scanner.Any()
	} else {
		c.Writer.Any(*v)
	}
}

// CodeSelf reads or writes what has methods for both.
func CodeSelf[T any, P interface {
	*T
	Encoder
	Decoder
}](v *T, c *Coder) {
	if c.Scanner != nil {
		P(v).DecodeJSON(c.Scanner)
	} else {
		P(v).EncodeJSON(c.Writer)
	}
}

func codeText(at unsafe.Pointer, c *Coder) {
	if v := (*string)(at); c.Scanner != nil {
		*v = c.Scanner.String()
	} else {
		c.Writer.Text(*v)
	}
}

func codeBool(at unsafe.Pointer, c *Coder) {
	if v := (*bool)(at); c.Scanner != nil {
		*v = c.Scanner.Bool()
	} else {
		c.Writer.Bool(*v)
	}
}

func codeInt(at unsafe.Pointer, c *Coder) {
	if v := (*int)(at); c.Scanner != nil {
		*v = int(c.Scanner.Int())
	} else {
		c.Writer.Int(int64(*v))
	}
}

func codeUint(at unsafe.Pointer, c *Coder) {
	if v := (*uint64)(at); c.Scanner != nil {
		*v = c.Scanner.Uint()
	} else {
		c.Writer.Uint(*v)
	}
}

func codeNumber(at unsafe.Pointer, c *Coder) {
	if v := (*float64)(at); c.Scanner != nil {
		*v = c.Scanner.Number()
	} else {
		c.Writer.Number(*v)
	}
}

func codeRaw(at unsafe.Pointer, c *Coder) {
	if v := (*[]byte)(at); c.Scanner != nil {
		*v = c.Scanner.Raw()
	} else {
		c.Writer.Raw(*v)
	}
}

func codeTexts(at unsafe.Pointer, c *Coder) {
	if v := (*[]string)(at); c.Scanner != nil {
		*v = c.Scanner.Strings()
	} else {
		c.Writer.Texts(*v)
	}
}
