package sites

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Bounds of what a site may offer.
const (
	mostActions     = 200
	mostParameters  = 64
	mostValues      = 100 // of an enum
	longestValue    = 200 // of it, in bytes
	longestDefault  = 512 // bytes
	longestAction   = 100 // bytes of a name
	longestShown    = 200 // characters of a description
	longestTool     = 64  // bytes of a tool's name
	longestToolJSON = 16 << 10
	mostWarnings    = 20
)

// schema is what a site offers, as tools.
type schema struct {
	name, version string
	actions       []offer
	syncs, tells  bool // it has memory.sync and memory.fetch
	warnings      []string
}

// offer is an action of a site as a tool.
type offer struct {
	action string
	tool   string     // its name
	json   alcove.Raw // the tool as a manifest has it
}

func (s *schema) warn(format string, arguments ...any) {
	if len(s.warnings) < mostWarnings {
		s.warnings = append(s.warnings, alcove.Errorf("", format, arguments...).Message)
	}
}

// readSchema reads what a site says of itself. What cannot be a tool is left out, with a warning.
func readSchema(slug string, body alcove.Raw) (out schema, err error) {
	s := scan.New(body)
	seen, beyond := map[string]bool{}, 0
	for key := range s.Fields() {
		switch key {
		case "name":
			out.name = plainOf(s.Raw(), 100)
		case "version":
			out.version = plainOf(s.Raw(), 40)
		case "actions":
			for action := range s.Fields() {
				definition := s.Raw()
				switch {
				case s.Err() != nil || seen[action]:
				case len(out.actions) == mostActions:
					beyond++
				default:
					seen[action] = true
					out.add(slug, action, definition)
				}
			}
		default:
			s.Skip()
		}
	}
	if err := s.End(); err != nil {
		return out, fault(alcove.Unavailable, "[%s] the schema of the site cannot be read: %v", slug, err)
	}
	if beyond > 0 {
		out.warn("%d actions are left out: a site may have %d", beyond, mostActions)
	}
	return out, nil
}

// add adds an action, or says why not.
func (s *schema) add(slug, action string, definition alcove.Raw) {
	switch lower(action) {
	case "memory.sync":
		s.syncs = true
		return
	case "memory.fetch":
		s.tells = true
		return
	}
	if !isName(action, ".-", longestAction) || action[0] == '_' || action[len(action)-1] == '.' || index(action, "..") >= 0 {
		s.warn("the action %q is left out: its name is not of letters, digits and . _ -", plain(action, 60))
		return
	}
	if reserved(action) {
		s.warn("the action %s is left out: memory.* is the server's own", action)
		return
	}
	o := offer{action: action, tool: toolName(slug, action)}
	d, err := s.read(action, definition)
	if err == nil {
		o.json, err = d.tool(slug, o.tool, action)
	}
	if err != nil {
		s.warn("the action %s is left out: %v", action, alcove.CodeOf(err).String()+" "+err.Error())
		return
	}
	s.actions = append(s.actions, o)
}

// reserved reports whether an action could be taken for a memory tool of the site.
func reserved(action string) bool {
	name := lower(action)
	rest, ok := after(name, "memory")
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '_' || rest[0] == '-')
}

// toolName is the name of the tool of an action. A long one is cut, and ends in a part of its digest.
func toolName(slug, action string) string {
	name := slug + "." + action
	if len(name) <= longestTool {
		return name
	}
	return name[:longestTool-9] + "_" + digest(name)[:8]
}

// isCut reports whether the name of a tool may have been cut.
func isCut(tool string) bool { return len(tool) == longestTool && tool[longestTool-9] == '_' }

// definition is an action as its site describes it.
type definition struct {
	description string
	properties  map[string]alcove.Raw
	required    []string
}

// read reads the definition of an action.
func (s *schema) read(action string, data alcove.Raw) (d definition, err error) {
	d.properties = map[string]alcove.Raw{}
	in := scan.New(data)
	for key := range in.Fields() {
		switch key {
		case "description":
			d.description = plainOf(in.Raw(), longestShown)
		case "params", "parameters":
			for name := range in.Fields() {
				raw := alcove.Raw(in.Raw())
				if in.Err() != nil {
					break
				}
				if err := s.parameter(&d, action, name, raw); err != nil {
					return d, err
				}
			}
		default:
			in.Skip()
		}
	}
	return d, in.End()
}

// parameter adds a parameter.
func (s *schema) parameter(d *definition, action, name string, data alcove.Raw) error {
	p, err := readParameter(data)
	if err != nil {
		return err
	}
	switch {
	case !isName(name, ".-", longestTool) && p.required:
		return alcove.Errorf(alcove.InvalidArgument, "the name of its parameter %q is not of letters, digits and . _ -", plain(name, 60))
	case !isName(name, ".-", longestTool):
		s.warn("the parameter %q of %s is left out: its name is not of letters, digits and . _ -", plain(name, 60), action)
		return nil
	case len(d.properties) == mostParameters:
		return alcove.Errorf(alcove.InvalidArgument, "it has more than %d parameters", mostParameters)
	}
	if p.unknown != "" {
		s.warn("the parameter %s of %s has the type %q, which is taken for a string", name, action, p.unknown)
	}
	if p.dropped {
		s.warn("values or the default of the parameter %s of %s are left out: they are too long, too many or not plain text", name, action)
	}
	if d.properties[name] == nil && p.required {
		d.required = append(d.required, name)
	}
	d.properties[name], err = p.schema()
	return err
}

// parameter is a parameter as a site describes it.
type parameter struct {
	kind, unknown string // its type, and one that does not exist
	description   string
	required      bool
	enum          []alcove.Raw
	standard      alcove.Raw // its default
	min, max      alcove.Raw
	dropped       bool // values that cannot be shown
}

func readParameter(data alcove.Raw) (p parameter, err error) {
	p.kind = "string"
	s := scan.New(data)
	for key := range s.Fields() {
		raw := alcove.Raw(s.Raw())
		switch key {
		case "type":
			p.setType(raw)
		case "description":
			p.description = plainOf(raw, longestShown)
		case "required":
			p.required = string(raw) == "true"
		case "enum":
			p.setEnum(raw)
		case "default":
			if p.standard = shown(raw, longestDefault); p.standard == nil && !raw.Null() {
				p.dropped = true
			}
		case "min", "minimum":
			p.min = number(raw)
		case "max", "maximum":
			p.max = number(raw)
		}
	}
	return p, s.End()
}

func (p *parameter) setType(raw alcove.Raw) {
	kind, _ := raw.Text()
	switch kind {
	case "string", "number", "integer", "boolean", "object", "array":
		p.kind = kind
	default:
		p.unknown = plain(kind, 40)
		if p.unknown == "" {
			p.unknown = "?"
		}
	}
}

func (p *parameter) setEnum(raw alcove.Raw) {
	if len(raw) == 0 || raw[0] != '[' {
		p.dropped = true
		return
	}
	s := scan.New(raw)
	seen := map[string]bool{}
	for range s.Elements() {
		v := shown(s.Raw(), longestValue)
		switch {
		case v == nil || v[0] == '{' || v[0] == '[' || len(p.enum) == mostValues:
			p.dropped = true
		case !seen[string(v)]:
			seen[string(v)] = true
			p.enum = append(p.enum, v)
		}
	}
}

// shown is a value if it is short and its texts are plain; otherwise nil.
func shown(raw alcove.Raw, most int) alcove.Raw {
	if len(raw) > most || raw.Null() || !cleanValue(scan.New(raw).Any()) {
		return nil
	}
	return raw
}

func cleanValue(v any) bool {
	switch v := v.(type) {
	case string:
		return isClean(v)
	case []any:
		for _, one := range v {
			if !cleanValue(one) {
				return false
			}
		}
	case map[string]any:
		for name, one := range v {
			if !isClean(name) || !cleanValue(one) {
				return false
			}
		}
	}
	return true
}

func number(raw alcove.Raw) alcove.Raw {
	if _, err := strconv.ParseFloat(string(raw), 64); err != nil || len(raw) > 40 {
		return nil
	}
	return raw
}

// schema is the JSON Schema of the parameter.
func (p parameter) schema() (alcove.Raw, error) {
	w := &scan.Writer{}
	w.Open()
	w.Key("type")
	w.Text(p.kind)
	if p.description != "" {
		w.Key("description")
		w.Text(p.description)
	}
	if len(p.enum) > 0 {
		w.Key("enum")
		w.List(len(p.enum), func(i int) { w.Raw(p.enum[i]) })
	}
	if p.standard != nil {
		w.Key("default")
		w.Raw(p.standard)
	}
	least, most := bounds(p.kind)
	p.bound(w, least, p.min)
	p.bound(w, most, p.max)
	w.Close()
	return w.Bytes()
}

func (p parameter) bound(w *scan.Writer, key string, value alcove.Raw) {
	_, err := strconv.ParseUint(string(value), 10, 31)
	if value == nil || key == "" || err != nil && p.kind != "number" && p.kind != "integer" {
		return
	}
	w.Key(key)
	w.Raw(value)
}

// bounds are the keywords that bound values of a type.
func bounds(kind string) (least, most string) {
	switch kind {
	case "number", "integer":
		return "minimum", "maximum"
	case "string":
		return "minLength", "maxLength"
	case "array":
		return "minItems", "maxItems"
	}
	return "", ""
}

// tool is the action as a tool. Equal tools are equal bytes, whatever the order of the parameters.
func (d definition) tool(slug, name, action string) (alcove.Raw, error) {
	description := d.description
	if description == "" {
		description = action
	}
	sortTexts(d.required)
	input := &scan.Writer{}
	input.Open()
	input.Key("type")
	input.Text("object")
	input.Key("properties")
	scan.WriteMap(input, d.properties, func(v alcove.Raw) { input.Raw(v) })
	if len(d.required) > 0 {
		input.Key("required")
		input.Texts(d.required)
	}
	input.Close()
	schema, err := input.Bytes()
	if err != nil {
		return nil, err
	}
	return toolJSON(name, "["+slug+"] "+description, schema, `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`)
}

func toolJSON(name, description string, input alcove.Raw, annotations string) (alcove.Raw, error) {
	w := &scan.Writer{}
	w.Open()
	w.Key("name")
	w.Text(name)
	w.Key("description")
	w.Text(description)
	w.Key("input_schema")
	w.Raw(input)
	w.Key("annotations")
	w.Raw([]byte(annotations))
	w.Close()
	out, err := w.Bytes()
	if len(out) > longestToolJSON {
		return nil, alcove.Errorf(alcove.InvalidArgument, "it has %d bytes as a tool: at most %d are allowed", len(out), longestToolJSON)
	}
	return out, err
}

func plainOf(raw alcove.Raw, most int) string {
	text, _ := raw.Text()
	return plain(text, most)
}
