package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/internal/schema"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// longestName is the longest tool name that model APIs accept, in characters. They refuse a whole list over a longer one.
const longestName = 64

const nameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Tool is a Spec in a registry.
type Tool struct {
	Spec
	Spelling   string          // its name as model APIs accept it: site.memory.store is site_memory_store
	Advertised json.RawMessage // Input without prose for people; of a core tool, without the arguments that few calls need
	Brief      json.RawMessage // Advertised with the required parameters and a few others, as the longest lists show it
	Fault      string          // why lists omit it; empty: they show it

	set        *Set   // nil: a core tool
	print      string // fingerprint of its entry in lists
	parameters parameters

	compiling sync.Once
	schema    *schema.Schema // of the arguments
	wrong     error          // why there is no schema
}

// IsCore reports whether the tool is one of the core.
func (t *Tool) IsCore() bool { return t.Family == "" }

// Set is a family with its tools in a registry.
type Set struct {
	Family
	Tools []*Tool
}

// Snapshot is the set of families at one moment.
type Snapshot struct {
	Sets []*Set // by name

	byName   map[string]*Set
	tools    map[string]*Tool // by each spelling of their names
	outdated <-chan struct{}  // nil: never
	all      *Snapshot        // of which this is what a caller has the right to; nil: this has all
}

// Registry holds the core tools and the families' tools.
type Registry struct {
	source Source // nil: no families

	mu      sync.Mutex
	core    []*Tool
	names   map[string]*Tool // core tools by their names and aliases
	current *Snapshot
}

// NewRegistry returns a registry with a source of families, which may be nil.
func NewRegistry(source Source) *Registry {
	return &Registry{source: source, names: map[string]*Tool{}}
}

// Add adds core tools, which lists show in the order of addition.
func (r *Registry) Add(specs ...Spec) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range specs {
		t := newTool(s)
		if t.Fault != "" {
			return fmt.Errorf("add the tool %s: %s", s.Name, t.Fault)
		}
		r.core = append(r.core, t)
		for _, name := range append([]string{s.Name}, s.Aliases...) {
			if r.names[name] != nil {
				return fmt.Errorf("add the tool %s: another has the name %s", s.Name, name)
			}
			r.names[name] = t.under(name)
		}
	}
	r.current = nil // a family's tool may have one of these names
	return nil
}

// HasFamilies reports whether there may be families.
func (r *Registry) HasFamilies() bool { return r.source != nil }

// Core lists the core tools.
func (r *Registry) Core() []*Tool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.core)
}

// Find looks a tool up by any spelling of its names: memory.store is memory_store.
func (r *Registry) Find(name string) (*Tool, bool) {
	r.mu.Lock()
	t := r.names[flat(name)]
	r.mu.Unlock()
	if t == nil {
		t = r.Snapshot().Find(name)
	}
	return t, t != nil
}

// methodPrefix begins the names of most tools. Methods of operations do without it.
const methodPrefix = "memory_"

// FindMethod finds the tool that a method of a caller's operation stands for, and the name that it is called by: recall is memory_recall,
// unless a tool has that name. An unknown method stands for itself.
func (r *Registry) FindMethod(rights memory.Rights, method string) (t *Tool, name string, found bool) {
	for _, name := range []string{method, methodPrefix + method} {
		if t, found := r.FindFor(rights, name); found {
			return t, name, true
		}
	}
	return nil, method, false
}

// Offered returns all tools that a caller may use: the core tools, then those of the families.
func (r *Registry) Offered(rights memory.Rights) (list []*Tool) {
	readOnly := rights.WritesNothing()
	for _, t := range r.Core() {
		if t.Annotations.Permitted(readOnly) {
			list = append(list, t)
		}
	}
	for _, set := range r.Snapshot().For(rights).Sets {
		list = append(list, slices.DeleteFunc(set.Offered(readOnly), (*Tool).IsCore)...)
	}
	return list
}

// FindFor is Find for a caller. Tools of families that the caller may not use are not found.
func (r *Registry) FindFor(rights memory.Rights, name string) (*Tool, bool) {
	t, ok := r.Find(name)
	if !ok || t.Family != "" && !rights.May(memory.ToUse(t.Family)) {
		return nil, false
	}
	return t, true
}

// Load makes a family ready for calls.
func (r *Registry) Load(ctx context.Context, family string) error { return r.source.Load(ctx, family) }

// Snapshot returns the current families.
func (r *Registry) Snapshot() *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil && !r.current.isOutdated() {
		return r.current
	}
	if r.source == nil {
		r.current = r.snapshot(nil, nil)
		return r.current
	}
	changed := r.source.Changed() // before Families, lest a change in between be missed
	r.current = r.snapshot(r.source.Families(), changed)
	return r.current
}

// Names returns the names of the core tools that lists show to a caller, as text.
func (r *Registry) Names(readOnly bool) string {
	var list []string
	for _, t := range r.Core() {
		if t.Annotations.Permitted(readOnly) && !t.Unlisted {
			list = append(list, t.Name)
		}
	}
	return strings.Join(list, ", ")
}

// Unknown returns the message for a call of a nonexistent tool, which lists the tools.
func (r *Registry) Unknown(name string, rights memory.Rights) string {
	text := fmt.Sprintf("there is no tool %q: the tools are %s", Clip(name, gotLength), r.Names(rights.WritesNothing()))
	likely := "memory_" + strings.TrimPrefix(name, "memory.")
	if slices.ContainsFunc(r.Core(), func(t *Tool) bool { return t.Name == likely }) {
		text += fmt.Sprintf("; %q is the one you mean", likely)
	}
	if names := r.Snapshot().For(rights).Names(); len(names) > 0 {
		text += "; memory_load_family shows those of the families " + Quoted(names)
	}
	return text
}

// Denied returns the error for a caller without the right to write.
func (r *Registry) Denied(rights memory.Rights, what string) error {
	if why := rights.WhyReadOnly(); why != "" {
		return &memory.Error{Code: memory.Denied, Rule: "write to a copy", Message: why}
	}
	return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf(
		"%s, and this memory can only be read: use %s; the server's operator can allow writing", what, r.Names(true))}
}

// Outdated returns a channel that is closed when a newer snapshot exists; nil: never.
func (s *Snapshot) Outdated() <-chan struct{} { return s.outdated }

func (s *Snapshot) isOutdated() bool {
	select {
	case <-s.outdated:
		return true
	default:
		return false
	}
}

// Set returns the family with a name, in any case, or nil if there is none.
func (s *Snapshot) Set(name string) *Set {
	if set := s.byName[name]; set != nil {
		return set
	}
	for _, set := range s.Sets {
		if strings.EqualFold(set.Name, name) {
			return set
		}
	}
	return nil
}

// For returns the families that a caller has the right to use.
func (s *Snapshot) For(rights memory.Rights) *Snapshot {
	permitted := slices.DeleteFunc(slices.Clone(s.Sets), func(set *Set) bool { return !rights.May(memory.ToUse(set.Name)) })
	if len(permitted) == len(s.Sets) {
		return s
	}
	view := &Snapshot{Sets: permitted, byName: map[string]*Set{}, tools: map[string]*Tool{}, outdated: s.outdated, all: s}
	for _, set := range permitted {
		view.byName[set.Name] = set
	}
	for spelling, t := range s.tools {
		if view.byName[t.Family] != nil {
			view.tools[spelling] = t
		}
	}
	return view
}

// Names lists the families.
func (s *Snapshot) Names() []string {
	names := make([]string, len(s.Sets))
	for i, set := range s.Sets {
		names[i] = set.Name
	}
	return names
}

// Find returns the family tool with any spelling of a name, or nil if there is none.
func (s *Snapshot) Find(name string) *Tool {
	if t := s.tools[name]; t != nil {
		return t
	}
	return s.tools[flat(name)]
}

// NoFamily returns the error for an unknown family name.
func (s *Snapshot) NoFamily(name string) error {
	text := fmt.Sprintf("there is no family %q: ", Clip(name, gotLength))
	if len(s.Sets) == 0 {
		text += "this server has none"
	} else {
		text += "there are " + strings.Join(s.Names(), ", ")
	}
	if t := s.Find(name); t != nil {
		text += fmt.Sprintf("; %s is a tool of %s", t.Spelling, t.Family)
	}
	e := &memory.Error{Code: memory.NotFound, Message: text, Details: map[string]any{"family": Clip(name, gotLength), "families": s.Names()}}
	if s.all != nil && s.all.Set(name) != nil {
		e.Rule = hidden(name)
	}
	return e
}

// hidden is the rule by which a family does not exist for a caller.
func hidden(family string) string { return "use family " + family }

// Offered returns the family's tools that lists show to a caller.
func (s *Set) Offered(readOnly bool) []*Tool {
	if s.Fault != "" {
		return nil
	}
	var list []*Tool
	for _, t := range s.Tools {
		if t.Fault == "" && t.Annotations.Permitted(readOnly) {
			list = append(list, t)
		}
	}
	return list
}

// snapshot indexes families for lookup; the caller holds mu.
func (r *Registry) snapshot(all []Family, changed <-chan struct{}) *Snapshot {
	s := &Snapshot{byName: map[string]*Set{}, tools: map[string]*Tool{}, outdated: changed}
	slices.SortFunc(all, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range all {
		set := &Set{Family: f}
		s.Sets, s.byName[f.Name] = append(s.Sets, set), set
		for _, spec := range f.Tools {
			spec.Family = f.Name
			t := newTool(spec)
			t.set = set
			set.Tools = append(set.Tools, t)
			s.register(t, r.isCore)
		}
	}
	s.spell()
	s.registerAliases(func(name string) bool { return r.names[flat(name)] != nil })
	for _, t := range r.core {
		if set := s.byName[t.With]; set != nil {
			set.Tools = append(set.Tools, t)
		}
	}
	return s
}

func (r *Registry) isCore(name string) bool {
	t := r.names[name]
	return t != nil && t.Name == name
}

// register adds a tool to the index. A faulty tool hides no other tool.
func (s *Snapshot) register(t *Tool, core func(name string) bool) {
	_, twice := s.tools[t.Name]
	switch {
	case core(t.Name) || core(t.Spelling):
		t.Fault = "a core tool has its name"
	case twice:
		t.Fault = "a tool of another family has its name"
	}
	if !twice && !core(t.Name) {
		s.tools[t.Name] = t
	}
}

// spell indexes tools by the other spelling of their names, which hides no tool's own name.
func (s *Snapshot) spell() {
	for _, set := range s.Sets {
		for _, t := range set.Tools {
			if t.Fault != "" {
				continue
			}
			switch s.tools[t.Spelling] {
			case t:
			case nil:
				s.tools[t.Spelling] = t
			default:
				t.Fault = "written with _ its name is that of another tool"
			}
		}
	}
}

// registerAliases indexes tools by their aliases. An alias hides no tool; of equal aliases, the first family's wins.
func (s *Snapshot) registerAliases(core func(name string) bool) {
	for _, set := range s.Sets {
		for _, t := range set.Tools {
			for _, alias := range t.Aliases {
				if t.Fault == "" && !core(alias) && s.Find(alias) == nil {
					s.tools[flat(alias)] = t.under(alias)
				}
			}
		}
	}
}

// under returns the tool as called by an alias. It shares what it is listed by.
func (t *Tool) under(alias string) *Tool {
	if len(t.Presets[alias]) == 0 && len(t.Spellings[alias]) == 0 {
		return t
	}
	other := &Tool{Spec: t.Spec, Spelling: t.Spelling, Advertised: t.Advertised, Brief: t.Brief, Fault: t.Fault,
		set: t.set, print: t.print, parameters: t.parameters}
	other.parameters.Preset, other.parameters.First = t.Presets[alias], map[string]string{}
	for spelling, name := range t.Spellings[alias] {
		other.parameters.First[request.Fold(spelling)] = name
	}
	return other
}

// titled returns a name as a title: memory_store_fact is "Store fact".
func titled(name string) string {
	title := strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-", r) {
			return ' '
		}
		return r
	}, strings.TrimPrefix(name, methodPrefix)))
	if title == "" {
		return name
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

// New returns a tool that is in no registry.
func New(s Spec) *Tool { return newTool(s) }

func newTool(s Spec) *Tool {
	s.Title = cmp.Or(s.Title, titled(s.Name))
	t := &Tool{Spec: s, Spelling: flat(s.Name), parameters: parametersOf(s)}
	whole, common, err := advertised(s.Input)
	switch t.Advertised = whole; {
	case err != nil:
		t.Fault = err.Error()
	case len(t.Spelling) > longestName || strings.Trim(t.Spelling, nameCharacters) != "":
		t.Fault = fmt.Sprintf("its name is not 1 to %d of the letters, digits, _ and -", longestName)
	}
	if t.IsCore() {
		t.Advertised = common // every client reads these with every request
	}
	t.Brief = briefSchema(common, inBrief())
	t.print = t.fingerprint()
	return t
}

// Whole returns the schema of the arguments of a family's tool with all that its family says of them, but prose: for clients that pass
// none of it to a model's API.
func (t *Tool) Whole() json.RawMessage {
	if t.IsCore() || len(t.Input) == 0 {
		return t.Advertised
	}
	whole, err := wholeSchema(t.Input)
	if err != nil {
		return t.Advertised
	}
	return whole
}

// advertised returns the schema of a tool's arguments as lists show it, whole and with the common arguments.
func advertised(input json.RawMessage) (whole, common json.RawMessage, err error) {
	if whole, err = ArgumentsSchema(input); err != nil {
		return nil, nil, err
	}
	if len(input) == 0 {
		return whole, whole, nil
	}
	if common, err = commonSchema(input); err != nil {
		return nil, nil, err
	}
	common, err = ArgumentsSchema(common)
	return whole, common, err
}

// flat returns a name as model APIs accept it.
func flat(name string) string { return strings.ReplaceAll(name, ".", "_") }

// fingerprint returns a hash of the tool's entry in lists.
func (t *Tool) fingerprint() string {
	encoded, err := json.Marshal([]any{t.Spelling, t.Title, t.Description, t.Advertised, t.Annotations})
	if err != nil {
		return err.Error() // its schema is not JSON, so it is not listed
	}
	sum := sha256.Sum256(encoded)
	return string(sum[:])
}

// Fingerprint returns a hash of the tool's entry in lists.
func (t *Tool) Fingerprint() string { return t.print }

// OutputSchema returns the schema of the structured result, or nil if unknown.
func (s Spec) OutputSchema() json.RawMessage {
	if len(s.Output) == 0 || saysObject(s.Output) {
		return s.Output
	}
	wrapped, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]json.RawMessage{"result": s.Output}, "required": []string{"result"},
	})
	if err != nil {
		return nil // not JSON
	}
	return wrapped
}

// saysObject reports whether a schema describes an object.
func saysObject(text json.RawMessage) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(text, &s) == nil && s.Type == "object"
}
