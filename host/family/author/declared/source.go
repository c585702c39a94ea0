// Package declared reads the declarations of a family's source in C, C++, Zig, Rust or AssemblyScript, for its manifest. It needs no compiler
// and runs nothing.
package declared

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// lineError is what is wrong in a line of a source.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// at is an error of a line, unless it names a line already.
func at(line int, err error) error {
	var e *lineError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &lineError{line, err}
}

// Files are the names of a family's source, by which a directory is known to have one.
func Files() []string {
	return []string{"family.c", "family.cpp", "family.zig", "family.rs", "family.ts"}
}

// languages are how sources are read, by the extension of their names.
func languages() map[string]func(*source) error {
	return map[string]func(*source) error{".c": readC, ".cpp": readC, ".cc": readC, ".zig": readZig, ".rs": readRust, ".ts": readAssemblyScript}
}

func dialects() map[string]dialect {
	return map[string]dialect{
		".c": {preprocessor: true}, ".cpp": {preprocessor: true, raw: true}, ".cc": {preprocessor: true, raw: true},
		".zig": {lines: true}, ".rs": {lifetimes: true, raw: true, nested: true}, ".ts": {templates: true},
	}
}

// ErrNone means that a source declares no family.
var ErrNone = errors.New("its first comment has no line //alcove:family NAME VERSION, as in //alcove:family tea 0.1.0")

// Manifest is the manifest that a source declares. The name is that of its file: errors begin with it and the line.
func Manifest(name string, text []byte) ([]byte, error) {
	m, err := manifest(name, string(text))
	var e *lineError
	if errors.As(err, &e) {
		return nil, fmt.Errorf("%s:%d: %w", filepath.Base(name), e.line, e.err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return m, nil
}

func manifest(name, text string) ([]byte, error) {
	extension := filepath.Ext(name)
	read := languages()[extension]
	if read == nil {
		return nil, fmt.Errorf("declarations are read in files whose names end with %s", strings.Join(slices.Sorted(maps.Keys(languages())), ", "))
	}
	scanned, err := scan(text, dialects()[extension])
	if err != nil {
		return nil, err
	}
	s := &source{scanner: scanned, types: map[string]*declare.Type{}, used: map[int]bool{}, heads: map[int]bool{}}
	if err := s.header(); err != nil {
		return nil, err
	}
	if err := read(s); err != nil {
		return nil, err
	}
	if err := s.unused(); err != nil {
		return nil, err
	}
	return s.family.Manifest()
}

// source is a source that is being read.
type source struct {
	*scanner
	family declare.Family
	types  map[string]*declare.Type
	used   map[int]bool // lines whose directives were read
	heads  map[int]bool // lines of the family's own comments
	weight int          // of all tools
}

// above are the lines of the comment right above a declaration, which is not the family's.
func (s *source) above(line int) []int {
	return slices.DeleteFunc(s.scanner.above(line), func(l int) bool { return s.heads[l] })
}

var familyName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// header reads the comments before the first declaration. The family's is the one with its directives.
func (s *source) header() error {
	first := s.line + 1
	if len(s.tokens) > 0 {
		first = s.tokens[0].line
	}
	all := s.groups(first)
	if n := len(all); n > 1 && slices.Equal(all[n-1], s.above(first)) && !s.names(all[n-1]) {
		all = all[:n-1]
	}
	for _, group := range all {
		text, said, err := s.said(group)
		if err != nil {
			return err
		}
		if s.family.Text == "" || len(said) > 0 {
			s.family.Text = text
		}
		s.family.Said = append(s.family.Said, said...)
		for _, line := range group {
			s.heads[line] = true
		}
	}
	for _, d := range s.family.Said {
		if err := s.declare(d); err != nil {
			return err
		}
	}
	if s.family.Name == "" {
		return ErrNone
	}
	return nil
}

// names reports whether lines have the directive that names the family.
func (s *source) names(lines []int) bool {
	return slices.ContainsFunc(lines, func(line int) bool {
		d, ok := declare.DirectiveOf(strings.TrimSpace(s.comments[line].text))
		return ok && d.Name == "family"
	})
}

// groups are the lines of comments before another, by the groups that other lines separate.
func (s *source) groups(before int) (all [][]int) {
	for line := 1; line < before; line++ {
		c, ok := s.comments[line]
		_, follows := s.comments[line-1]
		switch {
		case !ok || !c.alone:
		case follows && len(all) > 0:
			all[len(all)-1] = append(all[len(all)-1], line)
		default:
			all = append(all, []int{line})
		}
	}
	return all
}

// declare reads a directive of the family.
func (s *source) declare(d declare.Directive) error {
	switch fields := strings.Fields(d.Rest); d.Name {
	case "family":
		if len(fields) != 2 || !familyName.MatchString(fields[0]) {
			return fmt.Errorf("write //alcove:family NAME VERSION, as in //alcove:family tea 0.1.0")
		}
		s.family.Name, s.family.Version = fields[0], fields[1]
	case "collection":
		c, err := collection(d.Rest)
		s.family.Collections = append(s.family.Collections, c)
		return err
	case "description", "keywords", "example", "license", "homepage", "deprecated", "needs", "limits":
	default:
		return fmt.Errorf("//alcove:%s is not a directive of a family: known are family, description, keywords, example, license, homepage, deprecated, needs, limits and collection", d.Name)
	}
	return nil
}

// collection reads the name of a collection and its options.
func collection(rest string) (c abi.Collection, err error) {
	known := []string{"open", "private", "unversioned"}
	name, rest, _ := strings.Cut(rest, " ")
	flags, settings, err := declare.Words("collection", rest, known, []string{"per", "expires", "searchable", "index"})
	if err != nil {
		return c, err
	}
	c = abi.Collection{Name: name, Per: settings["per"], Expires: settings["expires"], Open: slices.Contains(flags, "open"), Private: slices.Contains(flags, "private")}
	if name == "" {
		return c, errors.New("write //alcove:collection NAME")
	}
	if text := settings["searchable"]; text != "" {
		c.Searchable = strings.Split(text, ",")
	}
	if text := settings["index"]; text != "" {
		for one := range strings.SplitSeq(text, "|") {
			c.Indexes = append(c.Indexes, strings.Split(one, ","))
		}
	}
	if slices.Contains(flags, "unversioned") {
		c.Versioned = new(false)
	}
	return c, nil
}

// said splits the lines of a comment into text and directives.
func (s *source) said(lines []int) (text string, said []declare.Directive, err error) {
	var out []string
	for _, line := range lines {
		c := s.comments[line]
		d, ok := declare.DirectiveOf(strings.TrimSpace(c.text))
		if !ok || strings.HasPrefix(d.Name, `"`) {
			out = append(out, c.text)
			continue
		}
		s.used[line] = true
		said = append(said, d)
	}
	return strings.TrimSpace(strings.Join(out, "\n")), said, nil
}

// directivesAbove are those in the comment above a line, which are not counted as read.
func (s *source) directivesAbove(line int) (list []declare.Directive) {
	for _, l := range s.above(line) {
		if d, ok := declare.DirectiveOf(strings.TrimSpace(s.comments[l].text)); ok {
			list = append(list, d)
		}
	}
	return list
}

// unused is an error for a directive that belongs to nothing.
func (s *source) unused() error {
	for _, line := range slices.Sorted(maps.Keys(s.comments)) {
		d, ok := declare.DirectiveOf(strings.TrimSpace(s.comments[line].text))
		if ok && !strings.HasPrefix(d.Name, `"`) && !s.used[line] {
			return &lineError{line, fmt.Errorf("//alcove:%s belongs to nothing that is declared: it stands in the comment right above a struct, or the function of a tool, hook or job; those of the family stand above all else", d.Name)}
		}
	}
	return nil
}

// handler is a function that serves a tool, a hook or a job, and where its comment ends.
type handler struct {
	line      int
	arguments *declare.Type
	result    *declare.Type // nil: none
}

// partWords are the directives of parts.
func partWords() []string {
	return []string{"tool", "job", "store", "guard", "stored", "rank", "embed", "types", "features", "alias", "title", "description", "resource", "prompt", "takes", "gives"}
}

// part reads what is said above a function.
func (s *source) part(name string, line int) (p declare.Part, err error) {
	p.Name = declare.Short(s.family.Name, name)
	if p.Text, p.Said, err = s.said(s.above(line)); err != nil {
		return p, at(line, err)
	}
	for _, d := range p.Said {
		if !slices.Contains(partWords(), d.Name) {
			return p, at(line, fmt.Errorf("//alcove:%s is not a directive of a tool, hook or job: known are %s", d.Name, strings.Join(partWords(), ", ")))
		}
	}
	if d, ok := declare.Find(p.Said, "features"); ok {
		p.Columns = strings.Fields(d.Rest)
	}
	return p, nil
}

// addTool adds a tool by the function that serves it.
func (s *source) addTool(name string, h handler) error {
	p, err := s.part(name, h.line)
	if err != nil {
		return err
	}
	if h.arguments == nil {
		h.arguments = &declare.Type{Kind: declare.Struct}
	}
	if h.arguments.Kind != declare.Struct {
		return at(h.line, fmt.Errorf("the arguments of tool %s are not a struct", name))
	}
	p.Tool = &declare.Tool{Name: name, Arguments: h.arguments, Result: h.result}
	weights := map[*declare.Type]int{}
	if s.weight += weigh(h.arguments, weights) + weigh(h.result, weights); s.weight > mostWeight {
		return at(h.line, fmt.Errorf("tool %s: the schemas of the tools have more than %d members, those of a type counted wherever it is used", name, mostWeight))
	}
	if err := s.add(p, h.line); err != nil {
		return err
	}
	return s.try(name, h.line, p)
}

// add adds a part.
func (s *source) add(p declare.Part, line int) error {
	if s.family.Parts = append(s.family.Parts, p); len(s.family.Parts) > mostParts {
		return at(line, fmt.Errorf("the family has more than %d tools, hooks and jobs", mostParts))
	}
	return nil
}

// weigh is how many members the schema of a type has, at most a few more than mostWeight. One that contains itself is not described twice.
func weigh(t *declare.Type, known map[*declare.Type]int) int {
	if t == nil {
		return 0
	}
	if n, ok := known[t]; ok {
		return n
	}
	known[t] = 1
	n := 1 + weigh(t.Elem, known)
	for _, f := range t.Fields {
		n = min(n+1+weigh(f.Type, known), mostWeight+1)
	}
	known[t] = n
	return n
}

// try makes the manifest of a part alone, for the line of what is wrong with it.
func (s *source) try(name string, line int, p declare.Part) error {
	if p.Tool == nil {
		return nil
	}
	for _, one := range []struct {
		t *declare.Type
		d declare.Direction
	}{{p.Tool.Arguments, declare.ToGuest}, {p.Tool.Result, declare.ToHost}} {
		if one.t == nil {
			continue
		}
		if _, err := one.t.Schema(one.d); err != nil {
			return at(line, fmt.Errorf("tool %s: %w", name, err))
		}
	}
	if p.Text == "" {
		return at(line, fmt.Errorf("tool %s has no comment: its first sentence is the tool's description", name))
	}
	return nil
}

// addJob adds a job.
func (s *source) addJob(name string, h handler) error {
	p, err := s.part(name, h.line)
	if err != nil {
		return err
	}
	p.Job = name
	return s.add(p, h.line)
}

// hookNames are those of declare by those of the SDKs.
func hookNames() map[string]string {
	return map[string]string{"store": "Store", "stored": "Stored", "merged": "Merged", "session_end": "Ended", "sessionEnd": "Ended", "rank": "Rank", "embed": "Embed"}
}

// addHook adds a hook by the name that the SDK gives it; others, such as published, are no hooks of a manifest.
func (s *source) addHook(name string, h handler) error {
	hook, ok := hookNames()[name]
	if !ok {
		return nil
	}
	p, err := s.part(name, h.line)
	if err != nil {
		return err
	}
	if _, guards := declare.Find(p.Said, "guard"); guards && hook == "Store" {
		hook = "Guard"
	}
	if hook == "Rank" && len(p.Columns) == 0 {
		return at(h.line, errors.New("the rank hook has no columns: write //alcove:features NAME … above its function"))
	}
	p.Hooks = []string{hook}
	return s.add(p, h.line)
}

// field describes a member, which begins with a token: by the comment above it or behind it, and the options in that. Comments are of members
// that begin a line.
func (s *source) field(f *declare.Field, member string, begin int) error {
	line, text, said := s.tokens[begin].line, "", []declare.Directive(nil)
	behind, _ := s.behind(line)
	if begin == 0 || s.tokens[begin-1].line < line {
		var err error
		if text, said, err = s.said(s.above(line)); err != nil {
			return at(line, err)
		}
		text = cmp.Or(text, behind)
	} else if strings.Contains(behind, `alcove:"`) {
		return at(line, fmt.Errorf("%s: options are behind a member that has a line of its own", f.Label))
	}
	tag := ""
	if i := strings.LastIndex(text, `alcove:"`); i >= 0 {
		end := strings.Index(text[i+len(`alcove:"`):], `"`)
		if end < 0 || strings.TrimSpace(text[i+len(`alcove:"`)+end+1:]) != "" {
			return at(line, fmt.Errorf("%s: options are the end of a comment, as in // how many alcove:\"min=1,max=9\"", f.Label))
		}
		text, tag = text[:i], text[i:]
	}
	o, err := declare.ParseOptions(strings.TrimSpace(tag))
	if err == nil && (o.Name != "" || o.Many) {
		err = errors.New("name= and many are for Go, whose code is generated: here the SDK reads the member as it is declared")
	}
	if err == nil {
		err = o.Say(said)
	}
	if err != nil {
		return at(line, fmt.Errorf("%s: %w", f.Label, err))
	}
	o.Name, o.Required, o.Omit, o.Clear = f.Name, f.Required || o.Required, f.Omit || o.Omit, f.Clear || o.Clear
	if o.Enum == nil {
		o.Enum = f.Enum
	}
	if _, given := o.Values["default"]; !given && f.Values["default"] != "" {
		o.Values["default"] = f.Values["default"]
	}
	if _, given := o.Values["default"]; given {
		o.Required = false
	}
	o.Described = o.AsWritten(declare.OfField(text, member))
	f.Options = o
	return nil
}

// structWords are the directives of structs.
func structWords() []string { return []string{"config", "rule"} }

// structOf reads what is said above a struct: the configuration is one.
func (s *source) structOf(t *declare.Type, line int) error {
	_, said, err := s.said(s.above(line))
	if err != nil {
		return at(line, err)
	}
	for _, d := range said {
		if !slices.Contains(structWords(), d.Name) {
			return at(line, fmt.Errorf("//alcove:%s is not a directive of a struct: known are %s", d.Name, strings.Join(structWords(), ", ")))
		}
	}
	if _, is := declare.Find(said, "config"); !is {
		if len(said) > 0 {
			return at(line, errors.New("//alcove:rule is for the configuration, which has //alcove:config"))
		}
		return nil
	}
	if s.family.ConfigSaid != nil {
		return at(line, errors.New("there is another configuration: one struct has //alcove:config"))
	}
	s.family.ConfigSaid = said
	for _, f := range t.Fields {
		setting, err := f.Setting("")
		if err != nil {
			return at(line, fmt.Errorf("%s: %w", f.Label, err))
		}
		s.family.Config = append(s.family.Config, setting)
	}
	return nil
}
