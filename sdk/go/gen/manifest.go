package gen

import (
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
	m.Description, m.Docs = described(f.about, "Package "+f.types.Name(), f.said)
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
	if m.ConfigRules, err = f.rules(m.Config); err != nil {
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

// described is a comment as a description, its first sentence, and what follows as docs. The name that it begins with goes. A directive
// description replaces the sentence.
func described(text, name string, said []directive) (description, docs string) {
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
	if d, ok := find(said, "description"); ok {
		first = d.rest
	}
	return first, strings.Join(paragraphs, "\n\n")
}

// says adds what a directive of the package says.
func (f *family) says(m *abi.Manifest, d directive) error {
	switch d.name {
	case "keywords":
		for word := range strings.SplitSeq(d.rest, ",") {
			if word = strings.TrimSpace(word); word != "" {
				m.Keywords = append(m.Keywords, word)
			}
		}
	case "example":
		m.Examples = append(m.Examples, d.rest)
	case "license":
		m.License = d.rest
	case "deprecated":
		m.Deprecated = true
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
		if err := p.addOffers(m, t.Name); err != nil {
			return err
		}
	}
	if p.job != nil {
		j, err := f.jobOf(p)
		if err != nil {
			return err
		}
		m.Hooks.Jobs = append(m.Hooks.Jobs, j)
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
	t.Description, t.Docs = described(p.doc.text, p.name(), p.doc.directives)
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
	if t.Parameters, t.Aliases, err = f.otherNames(p); err != nil {
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
	flags, _, err := words("tool", rest, append([]string{t.Name}, toolWords()...), nil)
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
	if *t.Annotations.ReadOnly {
		t.Annotations.Idempotent = new(true)
	}
	if t.Annotations.Title, _ = p.setting("title"); t.Annotations.Title == "" {
		t.Annotations.Title = upper(strings.ReplaceAll(snake(p.name()), "_", " "))
	}
	return t, nil
}
