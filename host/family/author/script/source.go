package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Source is a family in one file.
type Source struct {
	Name  string // of the author's file
	Text  []byte
	Files []string // that it was read from, relative to the folder of that file
}

// languages are the languages that an engine runs, with the ends of their files.
func languages() map[string][]string {
	return map[string][]string{"javascript": {".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}, "python": {".py"}}
}

// LanguageOf returns the language of a file that an engine runs; empty: none does.
func LanguageOf(path string) string {
	for language, ends := range languages() {
		if slices.Contains(ends, strings.ToLower(filepath.Ext(path))) {
			return language
		}
	}
	return ""
}

// mostFaults is how many faults of a source an error tells.
const mostFaults = 10

// Bundle reads a file and what it imports.
func Bundle(path string) (Source, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return Source{}, fmt.Errorf("find the source: %w", err)
	}
	if LanguageOf(at) == "python" {
		return bundlePython(at)
	}
	return bundleJavaScript(at)
}

// bundleJavaScript reads a file in JavaScript or TypeScript and what it imports, from files and from packages of npm that are installed, and
// makes one text of it, with a map of the authors' lines. Types are removed, and not checked.
func bundleJavaScript(at string) (Source, error) {
	name := filepath.Base(at)
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{name}, AbsWorkingDir: filepath.Dir(at), Outdir: ".", Bundle: true, External: []string{"alcove"},
		Format: api.FormatESModule, Target: api.ES2023, Platform: api.PlatformNeutral, MainFields: []string{"module", "main"}, Charset: api.CharsetUTF8,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, LegalComments: api.LegalCommentsInline, LogLevel: api.LogLevelSilent, Metafile: true,
	})
	if len(r.Errors) > 0 {
		return Source{}, faults(r.Errors)
	}
	s, err := bundled(name, r.OutputFiles)
	if err == nil {
		s.Files, err = inputsOf(r.Metafile)
	}
	return s, err
}

// inputsOf are the files that the bundler read.
func inputsOf(meta string) ([]string, error) {
	var m struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(meta), &m); err != nil {
		return nil, fmt.Errorf("read what was bundled: %w", err)
	}
	return slices.Sorted(maps.Keys(m.Inputs)), nil
}

// bundled is a text with its origins behind it.
func bundled(name string, files []api.OutputFile) (Source, error) {
	s := Source{Name: name}
	var lines origins
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".map") {
			s.Text = f.Contents
			continue
		}
		var err error
		if lines, err = originsOf(f.Contents); err != nil {
			return s, err
		}
	}
	data, err := json.Marshal(lines)
	if err != nil {
		return s, fmt.Errorf("write the origins of lines: %w", err)
	}
	s.Text = slices.Concat(s.Text, []byte(LinesMark), data, []byte("\n"))
	return s, nil
}

// faults is what the bundler says, with files and lines.
func faults(messages []api.Message) error {
	var all []error
	for _, m := range messages[:min(len(messages), mostFaults)] {
		if l := m.Location; l != nil {
			all = append(all, fmt.Errorf("%s:%d:%d: %s", l.File, l.Line, l.Column+1, m.Text))
			continue
		}
		all = append(all, errors.New(m.Text))
	}
	if n := len(messages) - mostFaults; n > 0 {
		all = append(all, fmt.Errorf("and %d more", n))
	}
	return errors.Join(all...)
}
