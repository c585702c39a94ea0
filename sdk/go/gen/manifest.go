package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// manifest is the manifest of the family.
func (f *family) manifest() ([]byte, error) {
	m := &abi.Manifest{ABI: abi.Version, Name: f.name, Version: f.version}
	m.Description, m.Docs = described(f.about, "Package "+f.types.Name())
	if m.Description == "" {
		return nil, errors.New("the package has no comment: its first sentence says what the family does")
	}
	var err error
	if m.Limits, err = f.limitsOf(); err != nil {
		return nil, err
	}
	for _, d := range f.said {
		if err := f.says(m, d); err != nil {
			return nil, err
		}
	}
	for _, p := range f.parts {
		if err := f.addTo(m, p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name(), err)
		}
	}
	if m.Config, err = f.settings(); err != nil {
		return nil, err
	}
	for _, c := range f.collections {
		m.Collections = append(m.Collections, c.Collection)
	}
	f.needRecords(m)
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if _, err := abi.ParseManifest(data); err != nil {
		return nil, err
	}
	return pretty(data)
}

// described is a comment as a description, its first sentence, and what follows as docs. The name that it begins with goes.
func described(text, name string) (description, docs string) {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n\n")
	first = oneLine(first, name)
	if i := strings.Index(first, ". "); i > 0 {
		first, rest = first[:i+1], first[i+2:]+"\n\n"+rest
	}
	var paragraphs []string
	for _, p := range strings.Split(rest, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	return first, strings.Join(paragraphs, "\n\n")
}

// says adds what a directive of the package says.
func (f *family) says(m *abi.Manifest, d directive) error {
	switch d.name {
	case "license":
		m.License = d.rest
	case "homepage":
		m.Homepage = d.rest
	case "needs":
		r, err := need(d.rest)
		if err != nil {
			return err
		}
		m.Capabilities = append(m.Capabilities, r)
	}
	return nil
}

// need reads CAPABILITY SCOPE,… REASON; a capability without scope has none.
func need(rest string) (r abi.Request, err error) {
	name, rest, _ := strings.Cut(rest, " ")
	r.Name = abi.Capability(name)
	scope := r.Name.Scope()
	if scope == "" {
		return r, fmt.Errorf("//alcove:needs: there is no capability %q: known are %v", name, abi.Capabilities())
	}
	if scope != "none" {
		list, after, _ := strings.Cut(strings.TrimSpace(rest), " ")
		r.Scope, rest = strings.Split(list, ","), after
	}
	if r.Reason = strings.TrimSpace(rest); r.Reason == "" {
		return r, fmt.Errorf("write //alcove:needs %s with its scope (%s) and the reason, which operators are shown", name, scope)
	}
	return r, nil
}

// needRecords asks for the family's own collections, unless the package does.
func (f *family) needRecords(m *abi.Manifest) {
	if len(f.collections) == 0 || slices.ContainsFunc(m.Capabilities, func(r abi.Request) bool { return r.Name == abi.CanRecord }) {
		return
	}
	r := abi.Request{Name: abi.CanRecord, Reason: "to keep its records"}
	for _, c := range f.collections {
		r.Scope = append(r.Scope, c.Name)
	}
	m.Capabilities = append(m.Capabilities, r)
}

// addTo adds what a part serves.
func (f *family) addTo(m *abi.Manifest, p part) error {
	if p.tool != nil {
		t, err := f.toolOf(p)
		if err != nil {
			return err
		}
		m.Tools = append(m.Tools, t)
	}
	if p.job != nil {
		rest, _ := p.setting("job")
		_, settings := words(rest)
		description, _ := described(p.doc.text, p.name())
		m.Hooks.Jobs = append(m.Hooks.Jobs, abi.Job{Name: p.jobName(), Description: description, Every: settings["every"]})
	}
	for method := range p.hooks {
		if err := f.addHook(&m.Hooks, p, method); err != nil {
			return err
		}
	}
	return nil
}

func (f *family) toolOf(p part) (abi.Tool, error) {
	t := abi.Tool{Name: p.toolName()}
	t.Description, t.Docs = described(p.doc.text, p.name())
	if t.Description == "" {
		return t, errors.New("it has no comment: its first sentence is the tool's description")
	}
	input, err := f.schema(p.typ, toGuest, nil)
	if err != nil {
		return t, err
	}
	if t.InputSchema, err = json.Marshal(input); err != nil {
		return t, err
	}
	if p.tool.result != nil {
		output, err := f.schema(p.tool.result, toHost, nil)
		if err != nil {
			return t, err
		}
		if len(output) == 0 || output[0].value != "object" {
			return t, fmt.Errorf("the result %s of Call is no struct", types.TypeString(p.tool.result, nil))
		}
		if t.OutputSchema, err = json.Marshal(output); err != nil {
			return t, err
		}
	}
	rest, _ := p.setting("tool")
	flags, _ := words(rest)
	is := func(word string) *bool { return new(slices.Contains(flags, word)) }
	t.Annotations = abi.Annotations{ReadOnly: is("read-only"), Destructive: is("destructive"), Idempotent: is("idempotent"), OpenWorld: is("open-world")}
	if *t.Annotations.ReadOnly {
		t.Annotations.Idempotent = new(true)
	}
	if t.Annotations.Title, _ = p.setting("title"); t.Annotations.Title == "" {
		t.Annotations.Title = upper(strings.ReplaceAll(snake(p.name()), "_", " "))
	}
	return t, nil
}

func (f *family) addHook(h *abi.Hooks, p part, method string) error {
	rest, _ := p.setting(strings.ToLower(method))
	flags, settings := words(rest)
	var collections []string
	if list := settings["collections"]; list != "" {
		collections = strings.Split(list, ",")
	}
	switch method {
	case "Store", "Guard":
		if h.Store != nil {
			return errors.New("a family has one store hook: Store or Guard, in one part")
		}
		h.Store = &abi.StoreHook{Collections: collections, OnFailure: abi.OnFailure(settings["on_failure"]), Redacts: slices.Contains(flags, "redacts")}
		if method == "Guard" && h.Store.OnFailure == "" {
			h.Store.OnFailure = abi.OnFailureRefuse
		}
	case "Stored":
		h.Stored = &abi.StoreHook{Collections: collections}
	case "Rank":
		columns, err := f.columns(p)
		if err != nil {
			return err
		}
		h.Rank = &abi.RankHook{Types: strings.Fields(first(p.setting("types")))}
		for _, c := range columns {
			h.Rank.Features = append(h.Rank.Features, c.name)
		}
	case "Embed":
		h.Embed = &abi.EmbedHook{Model: settings["model"]}
		if _, err := fmt.Sscan(settings["dimensions"], &h.Embed.Dimensions); err != nil || h.Embed.Model == "" {
			return errors.New("write //alcove:embed model=NAME dimensions=N")
		}
	}
	return nil
}

func first(text string, _ bool) string { return text }

// columns are the fields of a part with a rank hook: each is a feature.
func (f *family) columns(p part) ([]field, error) {
	list, err := f.fields(p.typ)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("it has no columns: give it a field []float32 for each feature, such as Score")
	}
	for _, c := range list {
		if types.TypeString(c.typ, nil) != "[]float32" {
			return nil, fmt.Errorf("%s is no column: columns are []float32", c.label)
		}
	}
	return list, nil
}

// setting is a key of the configuration and the field that it sets.
type setting struct {
	field
	key string
	// of a map whose keys have a pattern: what stands for the star, in each of its keys.
	element types.Type
	of      string
	initial string // JSON
}

// configFields are the keys of the configuration.
func (f *family) configFields() ([]setting, error) {
	if f.config == nil {
		return nil, nil
	}
	return f.configOf(f.config, "", "*")
}

// configOf are the keys of a struct; pattern has a star for their names.
func (f *family) configOf(t types.Type, path, pattern string) (list []setting, err error) {
	fields, err := f.fields(t)
	if err != nil {
		return nil, err
	}
	for _, x := range fields {
		x.path = path + x.path
		key := x.name
		if x.key != "" {
			key = x.key
		}
		key = strings.Replace(pattern, "*", key, 1)
		switch u := x.typ.Underlying().(type) {
		case *types.Map:
			more, err := f.mapSettings(x, key, u.Elem())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.label, err)
			}
			list = append(list, more...)
		case *types.Struct:
			if !strings.Contains(key, "*") {
				return nil, fmt.Errorf("%s: give the keys of its fields a pattern, as in `alcove:\"key=weight_*\"`", x.label)
			}
			more, err := f.configOf(x.typ, x.path+".", key)
			if err != nil {
				return nil, err
			}
			for i := range more {
				if more[i].described == "" {
					more[i].described = strings.ReplaceAll(x.described, "*", more[i].field.name)
				}
			}
			list = append(list, more...)
		default:
			initial, err := f.initial(x.typ, x.values)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.label, err)
			}
			list = append(list, setting{field: x, key: key, initial: initial})
		}
	}
	return list, nil
}

// mapSettings are the keys of a map: each name that its default gives a value is one.
func (f *family) mapSettings(x field, key string, element types.Type) (list []setting, err error) {
	text := x.values["default"]
	if !strings.Contains(key, "*") || text == "" {
		return nil, errors.New("a map has a pattern for its keys and a default for each, as in `alcove:\"key=weight_*,default=plan:0.6 other:0.5\"`")
	}
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, ":")
		one := x
		one.typ, one.values = element, withDefault(x.values, value)
		one.described = strings.ReplaceAll(x.described, "*", name)
		initial, err := f.initial(element, one.values)
		if err != nil {
			return nil, err
		}
		list = append(list, setting{field: one, key: strings.Replace(key, "*", name, 1), element: element, of: name, initial: initial})
	}
	return list, nil
}

func withDefault(values map[string]string, value string) map[string]string {
	all := map[string]string{"default": value}
	for name, v := range values {
		if name != "default" {
			all[name] = v
		}
	}
	return all
}

// initial is the default of a setting as JSON.
func (f *family) initial(t types.Type, values map[string]string) (string, error) {
	if text, ok := values["default"]; ok {
		return f.literal(t, text)
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return "[]", nil
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return `""`, nil
		case u.Info()&types.IsBoolean != 0:
			return "false", nil
		case u.Info()&types.IsNumeric != 0:
			return "0", nil
		}
	}
	return "", fmt.Errorf("%s cannot be a setting", types.TypeString(t, nil))
}

// settings are the configuration as the manifest has it.
func (f *family) settings() ([]abi.Setting, error) {
	fields, err := f.configFields()
	if err != nil {
		return nil, err
	}
	var list []abi.Setting
	for _, s := range fields {
		plain := s.field
		plain.described, plain.values = "", map[string]string{}
		for name, value := range s.values {
			if name != "default" {
				plain.values[name] = value
			}
		}
		schema, err := f.fieldSchema(plain, toGuest, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.label, err)
		}
		setting := abi.Setting{Key: s.key, Description: s.described, Default: json.RawMessage(s.initial)}
		if len(schema) > 1 || schema[0].value != "boolean" && schema[0].value != "string" {
			if setting.Schema, err = json.Marshal(schema); err != nil {
				return nil, err
			}
		}
		list = append(list, setting)
	}
	return list, nil
}

// wide is how long a line of the manifest is at most, where it can be broken.
const wide = 150

// pretty is JSON with what fits into a line in one line.
func pretty(data []byte) ([]byte, error) {
	var spaced bytes.Buffer
	for i, inText := 0, false; i < len(data); i++ {
		c := data[i]
		spaced.WriteByte(c)
		switch {
		case inText && c == '\\':
			i++
			spaced.WriteByte(data[i])
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			spaced.WriteByte(' ')
		}
	}
	var out bytes.Buffer
	breakLines(&out, spaced.Bytes(), 0)
	out.WriteByte('\n')
	if !json.Valid(out.Bytes()) {
		return nil, errors.New("the manifest is no JSON")
	}
	return out.Bytes(), nil
}

// breakLines writes a value in one line, or its members in lines of their own.
func breakLines(out *bytes.Buffer, value []byte, depth int) {
	column := out.Len() - 1 - bytes.LastIndexByte(out.Bytes(), '\n')
	opened := value[0] == '{' || value[0] == '['
	if !opened || depth > 0 && column+len(value) < wide {
		out.Write(value)
		return
	}
	indent := "\n" + strings.Repeat("  ", depth+1)
	out.WriteByte(value[0])
	for i, m := range members(value[1 : len(value)-1]) {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(indent)
		if n := nameLength(m); value[0] == '{' {
			out.Write(m[:n])
			m = m[n:]
		}
		breakLines(out, m, depth+1)
	}
	out.WriteString(indent[:len(indent)-2])
	out.WriteByte(value[len(value)-1])
}

// members are the members of an object or a list, without its brackets.
func members(inner []byte) (list [][]byte) {
	depth, from, inText := 0, 0, false
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 0:
			list = append(list, bytes.TrimSpace(inner[from:i]))
			from = i + 1
		}
	}
	if last := bytes.TrimSpace(inner[from:]); len(last) > 0 {
		list = append(list, last)
	}
	return list
}

// nameLength is how long the name of a member is, with its colon and the blank.
func nameLength(m []byte) int {
	for i, inText := 0, false; i < len(m); i++ {
		switch c := m[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && c == ':':
			return i + 2
		}
	}
	return 0
}
