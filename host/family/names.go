package family

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// reservedNames returns the names that no family may have: readers take them for the program itself.
func reservedNames() []string {
	return []string{"core", "memory", "alcove", "host", "operator", "system"}
}

// IsReserved reports whether a family's name is reserved for the program, or resembles such a name.
func IsReserved(name string) bool {
	_, taken := newUsedNames(nil).families[skeleton(name)]
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

// skeleton maps names that a reader or a model may confuse to the same text: without capitals, marks, signs
// and blanks, and with one letter for those that look alike.
func skeleton(name string) string {
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

// usedNames holds the names of families and of the program itself.
type usedNames struct {
	families map[string]string   // names by their skeletons
	tools    map[string]usedTool // by the skeletons of their names
	settings *config.Keys        // the shared settings
}

type usedTool struct {
	name, family string // empty family: the server's own
}

func (t usedTool) String() string {
	if t.family == "" {
		return "the server's own " + t.name
	}
	return t.name + " of family " + t.family
}

// newUsedNames returns the program's own names, with those of its core tools.
func newUsedNames(core []string) *usedNames {
	t := &usedNames{map[string]string{}, map[string]usedTool{}, config.NewKeys()}
	for _, name := range reservedNames() {
		t.families[skeleton(name)] = name
	}
	for _, name := range core {
		t.tools[skeleton(name)] = usedTool{name: name}
	}
	return t
}

// add adds the names of a family.
func (t *usedNames) add(m *abi.Manifest) {
	t.families[skeleton(m.Name)] = m.Name
	for _, tool := range m.Tools {
		t.addTool(m.Name, tool.Name)
		for _, a := range tool.Aliases {
			t.addTool(m.Name, a.Name)
		}
	}
	t.settings.Add(config.Declared(m))
}

func (t *usedNames) addTool(family, tool string) {
	t.tools[skeleton(tool)] = usedTool{tool, family}
}

// clash returns which name of a family equals or resembles a used one, or which setting is declared differently; empty: none.
func (t *usedNames) clash(m *abi.Manifest) string {
	if name, ok := t.families[skeleton(m.Name)]; ok {
		if name == m.Name {
			return fmt.Sprintf("its name %s is taken: give it another name", name)
		}
		return fmt.Sprintf("its name %s resembles %s, which is taken: give it another name", m.Name, name)
	}
	own := map[string]string{} // tools by the skeletons of their names
	for _, tool := range m.Tools {
		if clash := t.clashOf(tool); clash != "" {
			return clash
		}
		name := skeleton(tool.Name)
		if other, ok := own[name]; ok {
			return fmt.Sprintf("its tools %s and %s resemble each other: give one another name", other, tool.Name)
		}
		own[name] = tool.Name
	}
	for _, tool := range m.Tools {
		for _, a := range tool.Aliases {
			if other, ok := t.tools[skeleton(a.Name)]; ok {
				return fmt.Sprintf("the alias %s of its tool %s %s %s: give it another name", a.Name, tool.Name, likeness(a.Name, other.name), other)
			}
			if other, ok := own[skeleton(a.Name)]; ok && other != tool.Name { // clients may know another spelling of its own tool
				return fmt.Sprintf("the alias %s of its tool %s resembles its tool %s: give one another name", a.Name, tool.Name, other)
			}
			own[skeleton(a.Name)] = tool.Name
		}
	}
	return t.settings.Clash(config.Declared(m))
}

// clashOf returns which used name a tool's name or title equals or resembles; empty: none.
func (t *usedNames) clashOf(tool abi.Tool) string {
	if other, ok := t.like(tool); ok {
		return fmt.Sprintf("its tool %s %s %s: give it another name", tool.Name, likeness(tool.Name, other.name), other)
	}
	title := tool.Annotations.Title
	if title == "" {
		return ""
	}
	if other, ok := t.tools[skeleton(title)]; ok {
		return fmt.Sprintf("the title %q of its tool %s resembles %s: give it another title", title, tool.Name, other)
	}
	return ""
}

// like returns the used tool that a tool's name equals or resembles.
func (t *usedNames) like(tool abi.Tool) (usedTool, bool) {
	other, ok := t.tools[skeleton(tool.Name)]
	return other, ok
}

// likeness describes how a tool's name resembles another.
func likeness(name, other string) string {
	if name == other {
		return "has the name of"
	}
	return "resembles"
}

// CheckNames refuses a family whose names resemble those of the program, of its core tools, of built-in families, or each
// other, or whose configuration has a default that its own schema refuses. A built-in family is not refused.
func CheckNames(m *abi.Manifest, digest string, core []string, carried []Module) error {
	t, err := NewTaken(core, carried, nil)
	if err != nil {
		return err
	}
	return t.Check(m, digest)
}

// Taken holds the names that a new family must not have.
type Taken struct {
	names   *usedNames
	carried map[string]bool // digests
}

// NewTaken returns the names of the program, of its core tools, of built-in families, and of installed ones without clashes.
func NewTaken(core []string, carried []Module, installed []*abi.Manifest) (*Taken, error) {
	t := &Taken{newUsedNames(core), map[string]bool{}}
	for _, c := range carried {
		m, err := abi.ParseManifest(c.Manifest)
		if err != nil {
			return nil, fmt.Errorf("read a family that the program carries: %w", err)
		}
		t.names.add(m)
		t.carried[c.Digest] = true
	}
	for _, m := range installed {
		if t.names.clash(m) == "" {
			t.names.add(m)
		}
	}
	return t, nil
}

// Check is CheckNames.
func (t *Taken) Check(m *abi.Manifest, digest string) error {
	if t.carried[digest] {
		return nil
	}
	if clash := t.names.clash(m); clash != "" {
		return &memory.Error{Code: memory.Conflict, Message: "family " + m.Name + " is refused: " + clash}
	}
	return config.Declared(m).CheckDefaults()
}

// InstalledIn reads the manifests of the families that are installed in a data directory, sorted by name. It only reads: the
// directory may be missing, and a server may use it. Families that a server could not use are left out.
func InstalledIn(dir string) (list []*abi.Manifest, err error) {
	lock, err := registry.Read(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Families)) {
		g := lock.Families[name]
		if g.Asked != nil {
			continue // it is built in
		}
		data, err := readModule(filepath.Join(dir, Folder, g.Digest+extension))
		if err != nil || digestOf(data) != g.Digest {
			continue
		}
		if m, err := sandbox.ReadManifest(data); err == nil && m.Name == name {
			list = append(list, m)
		}
	}
	return list, nil
}
