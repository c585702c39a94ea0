package scan

// Coder reads or writes JSON by lists of fields, which are the same for both. One of its members is nil.
type Coder struct {
	Scanner *Scanner // while it reads
	Writer  *Writer  // while it writes
}

// Reading reports whether values are read, and not written.
func (c *Coder) Reading() bool { return c.Scanner != nil }

// Field is a member of a JSON object.
type Field struct {
	Name  string   // without characters that JSON escapes
	Also  []string // further names that it is read by
	Value Value
	Omit  bool // it is not written
	Keep  bool // null leaves what there is: its default
}

// Object reads or writes an object. Members that are no fields are skipped.
func (c *Coder) Object(fields []Field) {
	if c.Scanner != nil {
		c.read(fields)
	} else {
		c.write(fields)
	}
}

func (c *Coder) read(fields []Field) {
	s := c.Scanner
	if !s.open('{', "an object") {
		return
	}
	next := 0
	for s.more('}') {
		at := next
		if at >= len(fields) || !s.begins(fields[at].Name) {
			key, ok := s.key()
			if !ok {
				return
			}
			at = find(fields, key, next)
		}
		if at < 0 {
			s.Skip()
			continue
		}
		next = at + 1
		if f := &fields[at]; !f.Keep || !s.Null() {
			f.Value.CodeJSON(c)
		}
	}
}

// begins reads a key and its colon if it is that name: most objects have their members in the order of the fields.
func (s *Scanner) begins(name string) bool {
	rest, n := s.data[s.at:], len(name)
	if len(rest) < n+3 || rest[0] != '"' || rest[n+1] != '"' || rest[n+2] != ':' || string(rest[1:n+1]) != name {
		return false
	}
	s.at += n + 3
	return true
}

// find is the index of a field by a name of it, -1 if there is none. Of those from next on the first is the likeliest.
//
//go:noinline
func find(fields []Field, name string, next int) int {
	for i := next; i < len(fields); i++ {
		if fields[i].Name == name {
			return i
		}
	}
	for i := range fields[:next] {
		if fields[i].Name == name {
			return i
		}
	}
	for i := range fields {
		for _, also := range fields[i].Also {
			if also == name {
				return i
			}
		}
	}
	return -1
}

func (c *Coder) write(fields []Field) {
	w := c.Writer
	w.Open()
	for i := range fields {
		if f := &fields[i]; !f.Omit {
			w.name(f.Name)
			f.Value.CodeJSON(c)
		}
	}
	w.Close()
}

// name writes a key without characters that JSON escapes.
func (w *Writer) name(name string) {
	dst := w.data
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(append(dst, '"'), name...)
	w.data, w.field = append(dst, '"', ':'), name
}

// Coder reads what the scanner reads.
func (s *Scanner) Coder() *Coder {
	s.coder.Scanner = s
	return &s.coder
}

// Coder writes what the writer writes.
func (w *Writer) Coder() *Coder {
	w.coder.Writer = w
	return &w.coder
}
