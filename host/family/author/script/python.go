package script

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// pythonImport matches a line that imports modules: import a.b as c, d; from .a import b, c.
var pythonImport = regexp.MustCompile(`(?m)^[ \t]*(?:import[ \t]+(.+)|from[ \t]+([.\w]+)[ \t]+import[ \t]+\(?(.*))$`)

// mostFiles is how many files a family in Python may have.
const mostFiles = 1000

// python are the files of a family as they are found.
type python struct {
	root  string
	names []string
	texts map[string][]byte
}

// bundlePython reads a file in Python and the files that it imports, below its folder. Behind the text of the first are the names and texts
// of the others, with a zero byte before each. What is not there may be a library of the engine.
func bundlePython(path string) (Source, error) {
	p := &python{root: filepath.Dir(path), texts: map[string][]byte{}}
	name := filepath.Base(path)
	if err := p.add(name); err != nil {
		return Source{}, err
	}
	s := Source{Name: name, Text: p.texts[name], Files: p.names}
	for _, other := range p.names[1:] {
		s.Text = append(append(append(append(s.Text, 0), other...), 0), p.texts[other]...)
	}
	return s, nil
}

// add reads a file and what it imports.
func (p *python) add(name string) error {
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	if err != nil {
		return fmt.Errorf("read a file of the family: %w", err)
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if line := bytes.IndexByte(text, 0); line >= 0 {
		return fmt.Errorf("%s:%d: it has a zero byte", name, 1+bytes.Count(text[:line], []byte("\n")))
	}
	if len(p.names) == mostFiles {
		return fmt.Errorf("the family has more than %d files: import less", mostFiles)
	}
	p.names, p.texts[name] = append(p.names, name), text
	for _, found := range pythonImport.FindAllSubmatch(text, -1) {
		for _, module := range imported(name, string(found[1]), string(found[2]), string(found[3])) {
			if err := p.module(module); err != nil {
				return err
			}
		}
	}
	return nil
}

// imported are the paths of modules that a line of a file may mean.
func imported(file, modules, from, names string) (all []string) {
	if modules != "" {
		for one := range strings.SplitSeq(modules, ",") {
			if words := strings.Fields(one); len(words) > 0 {
				all = append(all, strings.ReplaceAll(words[0], ".", "/"))
			}
		}
		return all
	}
	base := strings.TrimLeft(from, ".")
	at := strings.ReplaceAll(base, ".", "/")
	for up := len(from) - len(base); up > 0; up-- { // relative to the package of the file
		file = path.Dir(file)
	}
	if base != from {
		at = path.Join(file, at)
	}
	all = append(all, at)
	for one := range strings.SplitSeq(strings.TrimRight(names, ") \t"), ",") {
		if words := strings.Fields(one); len(words) > 0 {
			all = append(all, path.Join(at, words[0]))
		}
	}
	return all
}

// module adds the files of a module, and of the packages that it is in, as far as they are there.
func (p *python) module(at string) error {
	parts := strings.Split(at, "/")
	if parts[0] == "alcove" || parts[0] == ".." {
		return nil
	}
	for i := range parts {
		for _, file := range []string{path.Join(parts[:i+1]...) + ".py", path.Join(path.Join(parts[:i+1]...), "__init__.py")} {
			info, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(file)))
			if err != nil || !info.Mode().IsRegular() || p.texts[file] != nil {
				continue
			}
			if err := p.add(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// Listed is a text of bundlePython with a line before each file but the first. Nothing of it is left out.
func Listed(text []byte) []byte {
	var out []byte
	for i, part := range bytes.Split(text, []byte{0}) {
		if i%2 == 1 {
			part = fmt.Appendf(nil, "\n# file %q\n", part)
		}
		out = append(out, part...)
	}
	return out
}
