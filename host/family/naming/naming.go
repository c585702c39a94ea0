// Package naming refuses names of families and tools that readers or models take for others.
package naming

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
)

// reservedNames returns the names that no family may have: readers take them for the program itself.
func reservedNames() []string {
	return []string{"core", "memory", "alcove", "host", "operator", "system"}
}

// IsReserved reports whether a family's name is reserved for the program, or resembles such a name.
func IsReserved(name string) bool {
	_, taken := NewUsed(nil).families[Skeleton(name)]
	return taken
}

// Confusable letters: other scripts' like Latin ones, then one like another, then two like one.
var (
	likeLatin = strings.NewReplacer(
		"а", "a", "в", "b", "е", "e", "ѕ", "s", "і", "i", "ј", "j", "к", "k", "м", "m", "н", "h", "о", "o", "р", "p", "с", "c", "т", "t", "у", "y", "х", "x",
		"ԁ", "d", "ԛ", "q", "ԝ", "w", "һ", "h", "ӏ", "l", "ь", "b", "г", "r", "п", "n", // Cyrillic
		"α", "a", "β", "b", "γ", "y", "ε", "e", "η", "n", "ι", "i", "κ", "k", "μ", "u", "ν", "v", "ο", "o", "ρ", "p", "σ", "o", "ς", "c", "τ", "t", "υ", "u",
		"χ", "x", "ω", "w", // Greek
		"ı", "i", "ɑ", "a", "ɡ", "g", "ł", "l", "ø", "o", "ß", "b")
	likeOne = strings.NewReplacer("0", "o", "1", "l", "i", "l", "|", "l", "2", "z", "5", "s", "8", "b")
	likeTwo = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d")
)

// Skeleton maps names that a reader or a model may confuse to the same text: without capitals, marks, signs
// and blanks, and with one letter for those that look alike.
func Skeleton(name string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '|' {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKD.String(name))
	if strings.ContainsFunc(letters, func(r rune) bool { return r > unicode.MaxASCII }) { // which few names have, and costs most
		letters = likeLatin.Replace(letters)
	}
	return likeTwo.Replace(likeOne.Replace(letters))
}

// Used holds the names of families and of the program itself.
type Used struct {
	families map[string]string // names by their skeletons
	tools    map[string]Tool   // by the skeletons of their names
	settings *config.Keys      // the shared settings
}

// Tool is a used name of a tool.
type Tool struct {
	Name, Family string // empty Family: the server's own
}

func (t Tool) String() string {
	if t.Family == "" {
		return "the server's own " + t.Name
	}
	return t.Name + " of family " + t.Family
}

// NewUsed returns the program's own names, with those of its core tools.
func NewUsed(core []string) *Used {
	t := &Used{map[string]string{}, map[string]Tool{}, config.NewKeys()}
	for _, name := range reservedNames() {
		t.families[Skeleton(name)] = name
	}
	for _, name := range core {
		t.tools[Skeleton(name)] = Tool{Name: name}
	}
	return t
}

// Add adds the names of a family.
func (t *Used) Add(m *abi.Manifest) {
	t.families[Skeleton(m.Name)] = m.Name
	for _, tool := range m.Tools {
		t.AddTool(m.Name, tool.Name)
		for _, a := range tool.Aliases {
			t.AddTool(m.Name, a.Name)
		}
	}
	t.settings.Add(config.Declared(m))
}

// AddTool adds the name of a tool.
func (t *Used) AddTool(family, tool string) {
	t.tools[Skeleton(tool)] = Tool{tool, family}
}

// Settings returns the settings that the families share.
func (t *Used) Settings() *config.Keys { return t.settings }

// Clash returns which name of a family equals or resembles a used one, or which setting is declared differently; empty: none.
func (t *Used) Clash(m *abi.Manifest) string {
	if name, ok := t.families[Skeleton(m.Name)]; ok {
		if name == m.Name {
			return fmt.Sprintf("its name %s is taken: give it another name", name)
		}
		return fmt.Sprintf("its name %s resembles %s, which is taken: give it another name", m.Name, name)
	}
	own := map[string]string{} // tools by the skeletons of their names
	for _, tool := range m.Tools {
		if clash := t.ClashOf(tool); clash != "" {
			return clash
		}
		name := Skeleton(tool.Name)
		if other, ok := own[name]; ok {
			return fmt.Sprintf("its tools %s and %s resemble each other: give one another name", other, tool.Name)
		}
		own[name] = tool.Name
	}
	for _, tool := range m.Tools {
		for _, a := range tool.Aliases {
			if other, ok := t.tools[Skeleton(a.Name)]; ok {
				return fmt.Sprintf("the alias %s of its tool %s %s %s: give it another name", a.Name, tool.Name, Likeness(a.Name, other.Name), other)
			}
			if other, ok := own[Skeleton(a.Name)]; ok && other != tool.Name { // clients may know another spelling of its own tool
				return fmt.Sprintf("the alias %s of its tool %s resembles its tool %s: give one another name", a.Name, tool.Name, other)
			}
			own[Skeleton(a.Name)] = tool.Name
		}
	}
	return t.settings.Clash(config.Declared(m))
}

// ClashOf returns which used name a tool's name or title equals or resembles; empty: none.
func (t *Used) ClashOf(tool abi.Tool) string {
	if other, ok := t.Like(tool); ok {
		return fmt.Sprintf("its tool %s %s %s: give it another name", tool.Name, Likeness(tool.Name, other.Name), other)
	}
	title := tool.Annotations.Title
	if title == "" {
		return ""
	}
	if other, ok := t.tools[Skeleton(title)]; ok {
		return fmt.Sprintf("the title %q of its tool %s resembles %s: give it another title", title, tool.Name, other)
	}
	return ""
}

// Like returns the used tool that a tool's name equals or resembles.
func (t *Used) Like(tool abi.Tool) (Tool, bool) {
	other, ok := t.tools[Skeleton(tool.Name)]
	return other, ok
}

// Likeness describes how a tool's name resembles another.
func Likeness(name, other string) string {
	if name == other {
		return "has the name of"
	}
	return "resembles"
}

// Check refuses a family whose names resemble those of the program, of its core tools, of built-in families, or each
// other, or whose configuration has a default that its own schema refuses. A built-in family is not refused.
func Check(m *abi.Manifest, digest string, core []string, carried []modules.Module) error {
	t, err := NewTaken(core, carried, nil)
	if err != nil {
		return err
	}
	return t.Check(m, digest)
}

// Taken holds the names that a new family must not have.
type Taken struct {
	names   *Used
	carried map[string]bool // digests
}

// NewTaken returns the names of the program, of its core tools, of built-in families, and of installed ones without clashes.
func NewTaken(core []string, carried []modules.Module, installed []*abi.Manifest) (*Taken, error) {
	t := &Taken{NewUsed(core), map[string]bool{}}
	for _, c := range carried {
		m, err := abi.ParseManifest(c.Manifest)
		if err != nil {
			return nil, fmt.Errorf("read a family that the program carries: %w", err)
		}
		t.names.Add(m)
		t.carried[c.Digest] = true
	}
	for _, m := range installed {
		if t.names.Clash(m) == "" {
			t.names.Add(m)
		}
	}
	return t, nil
}

// Check is the function Check.
func (t *Taken) Check(m *abi.Manifest, digest string) error {
	if t.carried[digest] {
		return nil
	}
	if clash := t.names.Clash(m); clash != "" {
		return &memory.Error{Code: memory.Conflict, Message: "family " + m.Name + " is refused: " + clash}
	}
	return config.Declared(m).CheckDefaults()
}
