package migrate

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value is a JSON value as a text has it, or a literal of JavaScript of the same form: keys may be without quotes, strings in single
// quotes, and lists may end with a comma.
type value struct {
	start, end int      // in the text
	raw        string   // of anything but objects and lists: JSON
	text       *string  // of a string
	members    []member // of an object
	object     bool
	elements   []value // of a list
	list       bool
	loose      bool // it is no JSON
}

type member struct {
	key   string
	value value
}

// get returns a member of an object; nil: there is none.
func (v *value) get(name string) *value {
	for i := range v.members {
		if v.members[i].key == name {
			return &v.members[i].value
		}
	}
	return nil
}

// str is the string that a value is; "" for any other.
func (v *value) str() string {
	if v == nil || v.text == nil {
		return ""
	}
	return *v.text
}

const deepest = 64 // brackets within each other

var errNoValue = errors.New("no value that can be read")

// reader reads values from a text.
type reader struct {
	text  string
	at    int
	deep  int
	loose bool
}

// objectAt reads the object that begins at a position.
func objectAt(text string, at int) (value, error) {
	return (&reader{text: text, at: at}).object()
}

func (r *reader) object() (value, error) {
	v, err := r.value()
	v.loose = r.loose
	if err == nil && !v.object {
		err = errNoValue
	}
	return v, err
}

func (r *reader) space() {
	for r.at < len(r.text) {
		switch {
		case strings.ContainsRune(" \t\r\n", rune(r.text[r.at])):
			r.at++
		case strings.HasPrefix(r.text[r.at:], "//"):
			r.loose = true
			if i := strings.IndexByte(r.text[r.at:], '\n'); i >= 0 {
				r.at += i
			} else {
				r.at = len(r.text)
			}
		default:
			return
		}
	}
}

func (r *reader) next(c byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) value() (v value, err error) {
	r.space()
	if r.at >= len(r.text) || r.deep > deepest {
		return v, errNoValue
	}
	v.start = r.at
	r.deep++
	switch c := r.text[r.at]; {
	case c == '{':
		r.at++
		v.object = true
		v.members, err = r.members()
	case c == '[':
		r.at++
		v.list = true
		v.elements, err = r.elements()
	case c == '"' || c == '\'':
		var text string
		if text, err = r.string(c); err == nil {
			v.text, v.raw = &text, quote(text)
		}
	default:
		v.raw, err = r.word()
	}
	r.deep--
	v.end = r.at
	return v, err
}

func (r *reader) members() (list []member, err error) {
	for {
		if r.next('}') {
			r.loose = r.loose || len(list) > 0 && r.afterComma()
			return list, nil
		}
		if len(list) > 0 && !r.afterComma() {
			return nil, errNoValue
		}
		key, err := r.key()
		if err != nil {
			return nil, err
		}
		if !r.next(':') {
			return nil, errNoValue
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, member{key, v})
		r.next(',')
	}
}

// afterComma reports whether the last character that is no space is a comma, the bracket before the position aside.
func (r *reader) afterComma() bool {
	before := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(r.text[:r.at], "}"), "]"), " \t\r\n")
	return strings.HasSuffix(before, ",")
}

func (r *reader) elements() (list []value, err error) {
	for {
		if r.next(']') {
			r.loose = r.loose || len(list) > 0 && r.afterComma()
			return list, nil
		}
		if len(list) > 0 && !r.afterComma() {
			return nil, errNoValue
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		r.next(',')
	}
}

func (r *reader) key() (string, error) {
	r.space()
	if r.at >= len(r.text) {
		return "", errNoValue
	}
	if c := r.text[r.at]; c == '"' || c == '\'' {
		return r.string(c)
	}
	begin := r.at
	for r.at < len(r.text) && isWord(r.text[r.at]) {
		r.at++
	}
	if r.at == begin || r.text[begin] <= '9' {
		return "", errNoValue
	}
	r.loose = true
	return r.text[begin:r.at], nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}

// string reads a string in quotes.
func (r *reader) string(quoteMark byte) (string, error) {
	begin := r.at
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '\n':
			return "", errNoValue
		case quoteMark:
			r.at++
			inner := r.text[begin+1 : r.at-1]
			if quoteMark == '\'' {
				r.loose = true
				inner = strings.ReplaceAll(strings.ReplaceAll(inner, `\'`, `'`), `"`, `\"`)
			}
			var text string
			if json.Unmarshal([]byte(`"`+inner+`"`), &text) != nil || !utf8.ValidString(text) {
				return "", errNoValue
			}
			return text, nil
		}
	}
	return "", errNoValue
}

// word reads a number, true, false or null.
func (r *reader) word() (string, error) {
	begin := r.at
	for r.at < len(r.text) && (isWord(r.text[r.at]) || strings.IndexByte("+-.", r.text[r.at]) >= 0) {
		r.at++
	}
	word := r.text[begin:r.at]
	if word != "true" && word != "false" && word != "null" {
		if _, err := strconv.ParseFloat(word, 64); err != nil || !json.Valid([]byte(word)) {
			return "", errNoValue
		}
	}
	return word, nil
}

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return `""` // strings cannot fail
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func textValue(text string) value { return value{raw: quote(text), text: &text} }

func rawValue(raw string) value {
	r := &reader{text: raw}
	v, err := r.value()
	if err != nil {
		return textValue(raw)
	}
	return v
}

// write renders a value on one line, or over several lines that begin with an indent. Loose values have keys without quotes.
func (v *value) write(b *strings.Builder, loose, lines bool, indent string) {
	open, end, n := "{", "}", len(v.members)
	switch {
	case v.list:
		open, end, n = "[", "]", len(v.elements)
	case !v.object:
		b.WriteString(v.raw)
		return
	}
	b.WriteString(open)
	for i := range n {
		switch {
		case i > 0 && lines:
			b.WriteString(",\n" + indent + "  ")
		case i > 0:
			b.WriteString(", ")
		case lines:
			b.WriteString("\n" + indent + "  ")
		case loose && v.object:
			b.WriteString(" ")
		}
		each := &value{}
		if v.list {
			each = &v.elements[i]
		} else {
			key := quote(v.members[i].key)
			if loose && isName(v.members[i].key) {
				key = v.members[i].key
			}
			b.WriteString(key + ": ")
			each = &v.members[i].value
		}
		each.write(b, loose, lines && each.size() > 60, indent+"  ")
	}
	switch {
	case n > 0 && lines:
		b.WriteString("\n" + indent)
	case n > 0 && loose && v.object:
		b.WriteString(" ")
	}
	b.WriteString(end)
}

// size is about how long a value is on one line.
func (v *value) size() int {
	n := len(v.raw) + 2
	for i := range v.members {
		n += len(v.members[i].key) + 4 + v.members[i].value.size()
	}
	for i := range v.elements {
		n += 2 + v.elements[i].size()
	}
	return n
}

func isName(key string) bool {
	if key == "" || key[0] <= '9' && key[0] != '$' {
		return false
	}
	for i := range len(key) {
		if !isWord(key[i]) {
			return false
		}
	}
	return true
}
