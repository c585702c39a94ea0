package declared

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// cFile is what a source in C or C++ declares, by its names.
type cFile struct {
	*source
	objects   map[string]*cursor            // what is in ALCOVE_OBJECT, behind the name
	lists     map[string][2]string          // own types that are lists, maps or pointers of others
	members   map[string]map[string]cMember // of structs
	structs   []cStruct
	functions map[string]int // the lines where they begin
	handlers  map[string][]cHandler
	within    []string // types that are being read
}

type cMember struct{ begin, beside int } // the first token, and how many others are declared with it

type cStruct struct {
	name string
	line int
}

// cHandler is an element of a list of tools or jobs.
type cHandler struct {
	line                    int
	name, function, in, out string
}

// readC reads the declarations of C and C++.
func readC(s *source) error {
	f := &cFile{source: s, objects: map[string]*cursor{}, lists: map[string][2]string{}, members: map[string]map[string]cMember{}, functions: map[string]int{}, handlers: map[string][]cHandler{}}
	var served *cursor
	for c := s.all(); c.more(); {
		found, err := f.declaration(c)
		if err != nil {
			return err
		}
		if found != nil {
			served = found
		}
	}
	for _, one := range f.structs {
		if err := f.configured(one); err != nil {
			return err
		}
	}
	if served == nil {
		return fmt.Errorf("nothing is served: write const alcove_family alcove_served = {.tools = tools};")
	}
	return f.serves(served)
}

// declaration reads one of the outermost declarations. That of alcove_served is handed back.
func (f *cFile) declaration(c *cursor) (served *cursor, err error) {
	line := c.lineHere()
	switch {
	case c.are("ALCOVE_OBJECT", "("):
		c.i--
		in, err := c.inside()
		if err != nil {
			return nil, err
		}
		name, err := in.name("the name of a struct")
		f.objects[name] = in
		return nil, err
	case c.are("ALCOVE_LIST_OF", "(", "", ",", "", ")"):
		f.lists[c.tokens[c.i-4].text] = [2]string{"ALCOVE_IS_LIST", c.tokens[c.i-2].text}
		return nil, nil
	case c.are("typedef", "struct"), c.are("struct"):
		return nil, f.aStruct(c, line)
	case c.peek(0).text == "extern" && c.peek(1).kind == quoted: // C++: what is within is outermost, too
		c.i += 2
		c.are("{")
		return nil, nil
	case c.are("namespace", "", "{"), c.are("namespace", "{"), c.are("}"):
		return nil, nil
	}
	return f.other(c, line)
}

// other reads a declaration up to its semicolon, or to the end of its body.
func (f *cFile) other(c *cursor, line int) (served *cursor, err error) {
	begin, kind, name := c.i, "", ""
	for c.more() {
		t := c.peek(0)
		switch {
		case t.text == ";" && t.kind == mark:
			c.i++
			return served, nil
		case t.kind == word && (t.text == "alcove_handler" || t.text == "alcove_family" || t.text == "alcove_type"):
			kind = t.text
			name = c.peek(1).text
			c.i++
		case t.kind == mark && t.text == "," && kind != "": // another one of the type
			name = c.peek(1).text
			c.i++
		case t.kind == mark && t.text == "(" && c.i > begin && c.tokens[c.i-1].kind == word && kind == "":
			name = c.tokens[c.i-1].text
			if _, err := c.inside(); err != nil {
				return nil, err
			}
			for c.peek(0).kind == word { // noexcept
				c.i++
			}
			if c.peek(0).text == "{" {
				f.functions[name] = line
				_, err := c.inside()
				return nil, err
			}
		case t.kind == mark && t.text == "{":
			in, err := c.inside()
			if err != nil {
				return nil, err
			}
			switch kind {
			case "alcove_handler":
				if f.handlers[name], err = f.list(in); err != nil {
					return nil, err
				}
			case "alcove_family":
				served = in
			case "alcove_type":
				f.ownList(strings.TrimPrefix(name, "alcove_is_"), in)
			}
		case t.kind == mark && strings.Contains("([", t.text):
			if _, err := c.inside(); err != nil {
				return nil, err
			}
		default:
			c.i++
		}
	}
	return served, nil
}

// ownList reads what {ALCOVE_IS_LIST, sizeof(…), 0, &alcove_is_card, NULL} is a list of.
func (f *cFile) ownList(name string, in *cursor) {
	kind := in.peek(0).text
	for ; in.more(); in.i++ {
		if of, ok := strings.CutPrefix(in.peek(0).text, "alcove_is_"); ok {
			f.lists[name] = [2]string{kind, of}
			return
		}
	}
}

// aStruct reads the members of a struct.
func (f *cFile) aStruct(c *cursor, line int) error {
	name := ""
	if c.peek(0).kind == word {
		name, _ = c.name("")
	}
	if c.peek(0).text != "{" {
		if name == "alcove_handler" || name == "alcove_family" || name == "alcove_type" {
			c.i -= 2
		}
		_, err := f.other(c, line)
		return err
	}
	in, err := c.inside()
	if err != nil {
		return err
	}
	if c.peek(0).kind == word {
		name, _ = c.name("")
	}
	members := map[string]cMember{}
	for in.more() {
		if err := member(in, members); err != nil {
			return err
		}
	}
	f.members[name] = members
	f.structs = append(f.structs, cStruct{name, line})
	if err := c.upTo(";"); err != nil {
		return err
	}
	c.i++
	if len(f.structs) > mostTypes || len(members) > mostFields {
		return &lineError{line, fmt.Errorf("a source has at most %d structs, of at most %d members", mostTypes, mostFields)}
	}
	return nil
}

// member reads TYPE a, b; where the type is none of its own names.
func member(c *cursor, into map[string]cMember) error {
	var names []token
	begin := c.i
	for c.more() && c.peek(0).text != ";" {
		t := c.peek(0)
		if t.kind == mark && strings.Contains("([{", t.text) {
			if _, err := c.inside(); err != nil {
				return err
			}
			continue
		}
		if c.i++; t.kind == word && c.i-1 > begin && strings.Contains(",;[={", c.peek(0).text) {
			names = append(names, t)
			if next := c.peek(0).text; next == "=" {
				if err := c.upTo(",", ";"); err != nil {
					return err
				}
			}
		}
	}
	c.i++
	for _, t := range names {
		into[t.text] = cMember{begin, len(names) - 1}
	}
	return nil
}

// list reads the handlers of tools or of jobs.
func (f *cFile) list(in *cursor) (list []cHandler, err error) {
	all, err := in.elements(false)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		h := cHandler{line: c.lineHere()}
		if c.are("alcove", ":", ":", "handler", "<", "", ">") {
			h.function = c.tokens[c.i-2].text
		}
		if c.peek(0).text != "{" && c.peek(0).text != "(" {
			return nil, c.unexpected("a handler, such as {\"tea_greet\", greet, &alcove_is_greet, &alcove_is_greeting}")
		}
		inner, err := c.inside()
		if err != nil {
			return nil, err
		}
		for ; inner.more(); inner.i++ {
			switch t := inner.peek(0); {
			case t.kind == quoted:
				h.name = t.text
			case strings.HasPrefix(t.text, "alcove_is_") && h.in == "":
				h.in = strings.TrimPrefix(t.text, "alcove_is_")
			case strings.HasPrefix(t.text, "alcove_is_"):
				h.out = strings.TrimPrefix(t.text, "alcove_is_")
			case t.kind == word && h.function == "":
				h.function = t.text
			}
		}
		if h.name != "" {
			list = append(list, h)
		}
	}
	return list, nil
}

// serves reads the members of alcove_served.
func (f *cFile) serves(in *cursor) error {
	all, err := in.elements(false)
	if err != nil {
		return err
	}
	for _, c := range all {
		line := c.lineHere()
		if !c.are(".", "", "=", "") {
			return at(line, fmt.Errorf("it has %q: name the members of alcove_served, as in .tools = tools", c.text()))
		}
		name, value := c.tokens[c.i-3].text, c.tokens[c.i-1].text
		if name != "tools" && name != "jobs" {
			begins, known := f.functions[value]
			if _, hook := hookNames()[name]; hook && !known {
				return at(line, fmt.Errorf("the function %s is not in this file", value))
			}
			if err := f.addHook(name, handler{line: begins}); err != nil {
				return err
			}
			continue
		}
		list, known := f.handlers[value]
		if !known {
			return at(line, fmt.Errorf("%s is not a list of handlers in this file: write static const alcove_handler %[1]s[] = {…, {0}};", value))
		}
		for _, h := range list {
			if err := f.handle(name, h); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *cFile) handle(list string, h cHandler) error {
	begins, known := f.functions[h.function]
	if !known {
		return at(h.line, fmt.Errorf("the function %s is not in this file", h.function))
	}
	if list == "jobs" {
		return f.addJob(h.name, handler{line: begins})
	}
	one := handler{line: begins}
	for _, t := range []struct {
		name string
		into **declare.Type
	}{{h.in, &one.arguments}, {h.out, &one.result}} {
		if t.name == "" || t.name == "nothing" {
			continue
		}
		var err error
		if *t.into, err = f.typeOf(t.name, h.line); err != nil {
			return err
		}
	}
	return f.addTool(h.name, one)
}

// cTypes are the types of the SDK, by what is behind alcove_is_.
func cTypes(name string) *declare.Type {
	kind := map[string]declare.Kind{"text": declare.Text, "bool": declare.Boolean, "int": declare.Integer, "uint": declare.Integer, "float": declare.Float, "float32": declare.Float, "nothing": declare.Struct}
	list := map[string]string{"texts": "text", "ints": "int", "values": "value"}
	of := map[string]string{"map_of_int": "int", "map_of_value": "value"}
	switch {
	case name == "value":
		return &declare.Type{}
	case kind[name] != declare.Any:
		return &declare.Type{Kind: kind[name], Name: name}
	case list[name] != "":
		return &declare.Type{Kind: declare.List, Name: name, Elem: cTypes(list[name])}
	case of[name] != "":
		return &declare.Type{Kind: declare.Map, Name: name, Elem: cTypes(of[name])}
	}
	return nil
}

// typeOf is the type that alcove_is_NAME describes.
func (f *cFile) typeOf(name string, line int) (*declare.Type, error) {
	if t := f.types[name]; t != nil {
		return t, nil
	}
	if t := cTypes(name); t != nil {
		return t, nil
	}
	if slices.Contains(f.within, name) || len(f.within) >= deepest {
		return nil, at(line, fmt.Errorf("alcove_is_%s contains itself, or types are more than %d deep", name, deepest))
	}
	f.within = append(f.within, name)
	defer func() { f.within = f.within[:len(f.within)-1] }()
	if own, ok := f.lists[name]; ok {
		return f.ofList(name, own, line)
	}
	in, ok := f.objects[name]
	if !ok {
		return nil, at(line, fmt.Errorf("alcove_is_%s is not described in this file: write ALCOVE_OBJECT of it, or use value", name))
	}
	t := &declare.Type{Kind: declare.Struct, Name: name}
	f.types[name] = t
	var err error
	t.Fields, err = f.fields(name, *in)
	return t, err
}

func (f *cFile) ofList(name string, own [2]string, line int) (*declare.Type, error) {
	elem, err := f.typeOf(own[1], line)
	if err != nil {
		return nil, err
	}
	switch own[0] {
	case "ALCOVE_IS_LIST":
		return &declare.Type{Kind: declare.List, Name: name, Elem: elem}, nil
	case "ALCOVE_IS_MAP":
		return &declare.Type{Kind: declare.Map, Name: name, Elem: elem}, nil
	}
	return elem, nil // a pointer
}

// fields are the members that ALCOVE_OBJECT lists: ALCOVE_MUST(greet, name, text) and the like.
func (f *cFile) fields(name string, in cursor) (list []declare.Field, err error) {
	if in.are(",") && !in.more() {
		return nil, nil
	}
	all, err := in.elements(false)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		macro, line := c.peek(0).text, c.lineHere()
		if !slices.Contains([]string{"ALCOVE_MUST", "ALCOVE_MAY", "ALCOVE_MUST_AS", "ALCOVE_MAY_AS"}, macro) {
			return nil, c.unexpected("ALCOVE_MUST or ALCOVE_MAY")
		}
		c.i++
		inner, err := c.inside()
		if err != nil {
			return nil, err
		}
		one, err := f.fieldOf(name, macro, inner)
		if err != nil {
			return nil, at(line, err)
		}
		list = append(list, one)
	}
	return list, nil
}

func (f *cFile) fieldOf(name, macro string, c *cursor) (d declare.Field, err error) {
	parts, err := c.elements(false)
	as := strings.HasSuffix(macro, "_AS")
	if want := map[bool]int{false: 3, true: 4}[as]; err == nil && len(parts) != want {
		err = fmt.Errorf("%s has %d arguments: give %d", macro, len(parts), want)
	}
	if err != nil {
		return d, err
	}
	member := parts[1].peek(0).text
	d.Name, d.Label = member, name+"."+member
	if as {
		d.Name = parts[2].peek(0).text
	}
	must := strings.HasPrefix(macro, "ALCOVE_MUST")
	d.Required, d.Omit = must, !must
	is := parts[len(parts)-1]
	if d.Type, err = f.typeOf(is.peek(0).text, is.lineHere()); err != nil {
		return d, err
	}
	declared, ok := f.members[name][member]
	if !ok {
		return d, fmt.Errorf("the struct %s has no member %s in this file", name, member)
	}
	line := f.tokens[declared.begin].line
	if text, has := f.behind(line); has && declared.beside > 0 {
		return d, &lineError{line, fmt.Errorf("the comment %.40q stands behind several members: give each a line of its own", text)}
	}
	return d, f.field(&d, member, declared.begin)
}

// configured reads a struct that is the configuration: its members are those of ALCOVE_OBJECT.
func (f *cFile) configured(one cStruct) error {
	t := &declare.Type{Kind: declare.Struct, Name: one.name}
	if _, is := declare.Find(f.directivesAbove(one.line), "config"); is {
		var err error
		if t, err = f.typeOf(one.name, one.line); err != nil {
			return err
		}
	}
	return f.structOf(t, one.line)
}
