// Package declare makes the manifest of a family of what the declarations and comments of its source say. The languages differ in how they are
// read; what directives and options mean is the same in all.
package declare

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// Family is what a source says of its family.
type Family struct {
	Name, Version string
	Is            string // what its comment may call it, as in Package facts
	Text          string // its comment
	Said          []Directive
	Limits        abi.Limits // of the language
	Parts         []Part
	Config        []abi.Setting
	ConfigSaid    []Directive
	Collections   []abi.Collection
}

// Part is a tool, a job or some hooks.
type Part struct {
	Name    string // as the source has it
	Text    string // its comment
	Said    []Directive
	Tool    *Tool    // nil: none
	Job     string   // its name; empty: none
	Hooks   []string // Store, Guard, Stored, Merged, Ended, Rank, Embed
	Columns []string // of the rank hook
}

// Tool is the tool of a part.
type Tool struct {
	Name      string
	Arguments *Type
	Result    *Type // nil: none
}

// ErrUndescribed means that a family has no comment.
var ErrUndescribed = errors.New("the family has no comment: its first sentence says what the family does")

// Manifest is the manifest of the family.
func (f *Family) Manifest() ([]byte, error) {
	m := &abi.Manifest{ABI: abi.Version, Name: f.Name, Version: f.Version, Config: f.Config, Collections: f.Collections}
	m.Description, m.Docs = Described(f.Text, f.Is, f.Said)
	if m.Description == "" {
		return nil, ErrUndescribed
	}
	var err error
	if m.Limits, err = f.limits(); err != nil {
		return nil, err
	}
	for _, d := range f.Said {
		if err := f.says(m, d); err != nil {
			return nil, err
		}
	}
	for _, p := range f.Parts {
		if err := p.addTo(m); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if m.ConfigRules, err = f.rules(); err != nil {
		return nil, err
	}
	f.needRecords(m)
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if _, err := abi.ParseManifest(data); err != nil {
		return nil, err
	}
	return Pretty(data)
}

// setting is what a directive of a part says, and whether there is one.
func (p Part) setting(name string) (rest string, ok bool) {
	d, ok := Find(p.Said, name)
	return d.Rest, ok
}

// says adds what a directive of the package says.
func (f *Family) says(m *abi.Manifest, d Directive) error {
	switch d.Name {
	case "keywords":
		for word := range strings.SplitSeq(d.Rest, ",") {
			if word = strings.TrimSpace(word); word != "" {
				m.Keywords = append(m.Keywords, word)
			}
		}
	case "example":
		m.Examples = append(m.Examples, d.Rest)
	case "license":
		m.License = d.Rest
	case "deprecated":
		m.Deprecated = true
	case "homepage":
		m.Homepage = d.Rest
	case "needs":
		r, err := need(d.Rest)
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
func (f *Family) needRecords(m *abi.Manifest) {
	if len(f.Collections) == 0 || slices.ContainsFunc(m.Capabilities, func(r abi.Request) bool { return r.Name == abi.CanRecord }) {
		return
	}
	r := abi.Request{Name: abi.CanRecord, Reason: "to keep its records"}
	for _, c := range f.Collections {
		r.Scope = append(r.Scope, c.Name)
	}
	m.Capabilities = append(m.Capabilities, r)
}

// addTo adds what a part serves.
func (p Part) addTo(m *abi.Manifest) error {
	if p.Tool != nil {
		t, err := p.tool()
		if err != nil {
			return err
		}
		m.Tools = append(m.Tools, t)
		if err := p.addOffers(m, t.Name); err != nil {
			return err
		}
	}
	if p.Job != "" {
		j, err := p.job()
		if err != nil {
			return err
		}
		m.Hooks.Jobs = append(m.Hooks.Jobs, j)
	}
	for _, name := range p.Hooks {
		if err := p.addHook(&m.Hooks, name); err != nil {
			return err
		}
	}
	return nil
}

func (p Part) tool() (abi.Tool, error) {
	t := abi.Tool{Name: p.Tool.Name}
	t.Description, t.Docs = Described(p.Text, p.Name, p.Said)
	if t.Description == "" {
		return t, errors.New("it has no comment: its first sentence is the tool's description")
	}
	input, err := p.Tool.Arguments.Schema(ToGuest)
	if err != nil {
		return t, err
	}
	if t.InputSchema, err = json.Marshal(input); err != nil {
		return t, err
	}
	if t.Parameters, t.Aliases, err = p.otherNames(); err != nil {
		return t, err
	}
	if p.Tool.Result != nil {
		output, err := p.Tool.Result.Schema(ToHost)
		if err != nil {
			return t, err
		}
		if len(output) == 0 || output[0].Value != "object" {
			return t, fmt.Errorf("the result %s of Call is no struct", p.Tool.Result.Name)
		}
		if t.OutputSchema, err = json.Marshal(output); err != nil {
			return t, err
		}
	}
	rest, _ := p.setting("tool")
	flags, _, err := Words("tool", rest, append([]string{t.Name}, toolWords()...), nil)
	if err != nil {
		return t, err
	}
	is := func(word string) *bool { return new(slices.Contains(flags, word)) }
	t.Annotations = abi.Annotations{ReadOnly: is("read-only"), Destructive: is("destructive"), Idempotent: is("idempotent"), OpenWorld: is("open-world")}
	t.Mixed, t.Content, t.Unlisted = slices.Contains(flags, "mixed"), slices.Contains(flags, "content"), slices.Contains(flags, "unlisted")
	switch {
	case slices.Contains(flags, "task-after-input"):
		t.Task = abi.TaskAfterInput
	case slices.Contains(flags, "task-required"):
		t.Task = abi.TaskRequired
	case slices.Contains(flags, "task"):
		t.Task = abi.TaskOptional
	}
	t.Annotations.Title, _ = p.setting("title")
	Annotate(&t.Annotations, p.Name)
	return t, nil
}

// limits are those of the language, unless the family says others.
func (f *Family) limits() (limits abi.Limits, err error) {
	limits = f.Limits
	for _, d := range f.Said {
		if d.Name != "limits" {
			continue
		}
		var names []string
		limits.Each(func(name string, _ *int64) { names = append(names, name) })
		_, settings, wrong := Words("limits", d.Rest, nil, names)
		if wrong != nil {
			return limits, wrong
		}
		limits.Each(func(name string, value *int64) {
			text, given := settings[name]
			if !given {
				return
			}
			n, bad := strconv.ParseInt(text, 10, 64)
			if bad != nil {
				err = fmt.Errorf("//alcove:limits %s=%s: give a whole number", name, text)
			}
			*value = n
		})
	}
	return limits, err
}

// toolWords are what //alcove:tool can say beside a name.
func toolWords() []string {
	return []string{"read-only", "destructive", "idempotent", "open-world", "mixed", "content", "unlisted", "task", "task-required", "task-after-input"}
}

// ToolName is the name in what //alcove:tool says; empty: it says none.
func ToolName(rest string) string { return NameIn(rest, toolWords()) }

// Annotate adds what a source leaves out: hints are false, a tool that only reads is idempotent, the title is its name.
func Annotate(a *abi.Annotations, short string) {
	for _, hint := range []**bool{&a.ReadOnly, &a.Destructive, &a.Idempotent, &a.OpenWorld} {
		if *hint == nil {
			*hint = new(false)
		}
	}
	if *a.ReadOnly {
		a.Idempotent = new(true)
	}
	if a.Title == "" {
		a.Title = Upper(strings.ReplaceAll(Snake(short), "_", " "))
	}
}

// Short is the name of a tool without that of its family.
func Short(family, tool string) string {
	tool = strings.TrimPrefix(tool, "memory_")
	return strings.TrimPrefix(tool, strings.ReplaceAll(family, "-", "_")+"_")
}
