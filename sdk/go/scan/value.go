package scan

// Values of which most structs consist. A pointer to a field of the same form is converted to a pointer to one of them.
type (
	Text   string
	Bool   bool
	Int    int
	Uint   uint64
	Number float64
	Raw    []byte // JSON of any form
	Texts  []string
)

// CodeJSON implements Value. Null is an empty text.
func (v *Text) CodeJSON(c *Coder) { CodeText(v, c) }

// CodeJSON implements Value. Null is false.
func (v *Bool) CodeJSON(c *Coder) { CodeBool(v, c) }

// CodeJSON implements Value. Null is 0.
func (v *Int) CodeJSON(c *Coder) { CodeInt(v, c) }

// CodeJSON implements Value. Null is 0.
func (v *Uint) CodeJSON(c *Coder) { CodeUint(v, c) }

// CodeJSON implements Value. Null is 0.
func (v *Number) CodeJSON(c *Coder) { CodeNumber(v, c) }

// CodeJSON implements Value. It is written as null where it is empty.
func (v *Raw) CodeJSON(c *Coder) { CodeRaw(v, c) }

// CodeJSON implements Value. Null is nil, and a text that is no list is a list of one.
func (v *Texts) CodeJSON(c *Coder) { CodeTexts(v, c) }

// CodeText reads or writes a text.
func CodeText[T ~string](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.String())
	} else {
		c.Writer.Text(string(*v))
	}
}

// CodeBool reads or writes true or false.
func CodeBool[T ~bool](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Bool())
	} else {
		c.Writer.Bool(bool(*v))
	}
}

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
func CodeNumber[T ~float64](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Number())
	} else {
		c.Writer.Number(float64(*v))
	}
}

// CodeNumber32 reads or writes a number of half the precision.
func CodeNumber32[T ~float32](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Number())
	} else {
		c.Writer.Number32(float32(*v))
	}
}

// CodeRaw reads or writes JSON of any form.
func CodeRaw[T ~[]byte](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Raw())
	} else {
		c.Writer.Raw(*v)
	}
}

// CodeTexts reads or writes a list of texts.
func CodeTexts[T ~[]string](v *T, c *Coder) {
	if c.Scanner != nil {
		*v = T(c.Scanner.Strings())
	} else {
		c.Writer.Texts(*v)
	}
}

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

// The types of pointers to what structs consist of. They are small enough to be made for each object.
type (
	textPointer   struct{ at **string }
	boolPointer   struct{ at **bool }
	intPointer    struct{ at **int }
	uintPointer   struct{ at **uint64 }
	numberPointer struct{ at **float64 }
)

// TextPointer is a text, or null, which is nil.
func TextPointer(at **string) Value { return textPointer{at} }

// BoolPointer is true or false, or null, which is nil.
func BoolPointer(at **bool) Value { return boolPointer{at} }

// IntPointer is a whole number, or null, which is nil.
func IntPointer(at **int) Value { return intPointer{at} }

// UintPointer is a whole number from 0 on, or null, which is nil.
func UintPointer(at **uint64) Value { return uintPointer{at} }

// NumberPointer is a number, or null, which is nil.
func NumberPointer(at **float64) Value { return numberPointer{at} }

func (p textPointer) CodeJSON(c *Coder)   { codePointer(p.at, c, CodeText) }
func (p boolPointer) CodeJSON(c *Coder)   { codePointer(p.at, c, CodeBool) }
func (p intPointer) CodeJSON(c *Coder)    { codePointer(p.at, c, CodeInt) }
func (p uintPointer) CodeJSON(c *Coder)   { codePointer(p.at, c, CodeUint) }
func (p numberPointer) CodeJSON(c *Coder) { codePointer(p.at, c, CodeNumber) }
