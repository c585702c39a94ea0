// Package develop builds the module of a family again whenever its sources change, and hands each one to a server.
package develop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/regular"
)

// ConfigFile is the file of a project that says how to build its family.
const ConfigFile = "alcove.dev.json"

// Bounds of a project.
const (
	mostConfig   = 64 << 10 // bytes of ConfigFile
	mostWords    = 64       // of the build command, and patterns
	longestWord  = 4 << 10  // bytes
	mostFiles    = 20_000   // in the directory, hidden ones and other builds' output excepted
	mostOutput   = 64 << 10 // bytes of what a build prints: the last ones are kept
	longestBuild = 10 * time.Minute
)

// Config is what ConfigFile has. Paths are slash-separated and relative to the project.
type Config struct {
	Build    []string `json:"build"`    // the command and its arguments, run in the project's directory as this user
	Module   string   `json:"module"`   // what the command writes
	Manifest string   `json:"manifest"` // the manifest's file
	// Watch has patterns, as path.Match has them, of files whose change causes a build. One without a slash matches the last element of
	// a path, in any directory.
	Watch []string `json:"watch"`
	// Generated has patterns of files that the build writes: their changes cause no build. The module is one without being named.
	Generated []string `json:"generated,omitempty"`
}

// Project is the directory of a family's sources.
type Project struct {
	Dir string // absolute
	Config
	self string // of Loop
}

// Open reads the ConfigFile of a directory.
func Open(dir string) (*Project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	data, err := regular.Read(filepath.Join(dir, ConfigFile), mostConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(`read the project: there is no %s in %s: write one, as {"build": ["sh", "build.sh"], "module": "raw.wasm", "manifest": "manifest.json", "watch": ["*.go"]}`, ConfigFile, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read the project: %w", err)
	}
	c, err := parse(data)
	if err != nil {
		return nil, err
	}
	return &Project{Dir: dir, Config: c}, nil
}

// parse reads a ConfigFile. Its errors name the key.
func parse(data []byte) (c Config, err error) {
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&c); err != nil {
		return c, fmt.Errorf("read %s, line %d: %w: its keys are build, module, manifest, watch and generated", ConfigFile, 1+bytes.Count(data[:min(int(in.InputOffset()), len(data))], []byte("\n")), err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("read %s: something follows the object: remove it", ConfigFile)
	}
	return c, c.check()
}

func (c Config) check() error {
	for _, list := range []struct {
		key   string
		words []string
		least int
	}{{"build", c.Build, 1}, {"watch", c.Watch, 1}, {"generated", c.Generated, 0}} {
		key, words := list.key, list.words
		if len(words) < list.least || len(words) > mostWords {
			return fmt.Errorf("%s: %s has %d elements: give from %d to %d", ConfigFile, key, len(words), list.least, mostWords)
		}
		for i, w := range words {
			if w == "" || len(w) > longestWord || strings.ContainsRune(w, 0) {
				return fmt.Errorf("%s: element %d of %s is empty, has a zero byte, or is longer than %d bytes", ConfigFile, i, key, longestWord)
			}
		}
	}
	for key, patterns := range map[string][]string{"watch": c.Watch, "generated": c.Generated} {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				return fmt.Errorf("%s: %s has %q, which is not a pattern: %w", ConfigFile, key, p, err)
			}
		}
	}
	for _, named := range [][2]string{{"module", c.Module}, {"manifest", c.Manifest}} {
		key, file := named[0], named[1]
		if len(file) > longestWord || !filepath.IsLocal(filepath.FromSlash(file)) || path.Clean(file) == "." {
			return fmt.Errorf("%s: %s is %.100q: give the path of a file below the project", ConfigFile, key, file)
		}
	}
	if path.Clean(c.Module) == path.Clean(c.Manifest) {
		return fmt.Errorf("%s: module and manifest are the same file %.100q", ConfigFile, c.Module)
	}
	return nil
}

// program is what the build command runs.
func (p *Project) program() string {
	if p.Config.Build[0] == "alcove" && p.self != "" {
		return p.self
	}
	return p.Config.Build[0]
}

// BuildError is the error of a failed build, with the end of its output.
type BuildError struct {
	Command []string
	Output  string
	Needs   string // what has to be installed, as the project's README.md says; empty: it does not
	Err     error
}

func (e *BuildError) Error() string {
	text := fmt.Sprintf("run %s: %v", strings.Join(e.Command, " "), e.Err)
	var exit *exec.ExitError
	if !errors.Is(e.Err, exec.ErrNotFound) && (!errors.As(e.Err, &exit) || exit.ExitCode() != notFound) {
		return text
	}
	if e.Needs == "" {
		return text + ": a program that it needs is not installed"
	}
	return text + ": a program that it needs is not installed; needed: " + e.Needs
}

// notFound is how a shell ends that finds no program.
const notFound = 127

// needed begins the line of a README.md that says what has to be installed. alcove family new writes one.
const needed = "Needed: "

// needs is what has to be installed to build the project, as far as its README.md says so.
func (p *Project) needs() string {
	readme, err := regular.Read(filepath.Join(p.Dir, "README.md"), mostConfig)
	if err != nil {
		return "" // nobody has to have one
	}
	for line := range strings.Lines(string(readme)) {
		if what, ok := strings.CutPrefix(line, needed); ok {
			return strings.TrimSpace(what)
		}
	}
	return ""
}

func (e *BuildError) Unwrap() error { return e.Err }

// build runs the project's command, and returns the module and the manifest. A command that fails is a BuildError.
func (p *Project) build(ctx context.Context) (module, manifest []byte, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, longestBuild, fmt.Errorf("it took longer than %v", longestBuild))
	defer stop()
	run := exec.CommandContext(ctx, p.program(), p.Config.Build[1:]...)
	run.Dir, run.WaitDelay = p.Dir, time.Second
	if p.self != "" { // for scripts, which run this program as $ALCOVE
		run.Env = append(os.Environ(), "ALCOVE="+p.self)
	}
	var said tail
	run.Stdout, run.Stderr = &said, &said
	if err := run.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, nil, &BuildError{p.Config.Build, said.String(), p.needs(), err}
	}
	if module, err = p.ReadModule(); err == nil {
		manifest, err = p.ReadManifest()
	}
	return module, manifest, err
}

// ReadModule reads the module that was built last. One that is too large is cut just behind the limit, for the sandbox to refuse it.
func (p *Project) ReadModule() ([]byte, error) {
	f, err := regular.Open(filepath.Join(p.Dir, filepath.FromSlash(p.Module)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p.unbuilt("there is no")
	}
	if err != nil {
		return nil, fmt.Errorf("read the module that %s names: %w", ConfigFile, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, abi.DefaultModuleLimits().ModuleBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the module that %s names: %w", ConfigFile, err)
	case len(data) == 0:
		return nil, p.unbuilt("nothing is in")
	}
	return data, nil
}

// UnbuiltError means that the module of a project was not written.
type UnbuiltError struct {
	Module, Command string
	why             string
}

func (p *Project) unbuilt(why string) error {
	return &UnbuiltError{p.Module, strings.Join(p.Config.Build, " "), why}
}

func (e *UnbuiltError) Error() string {
	return fmt.Sprintf("%s %s, the module that %s names: run %s; if it writes another file, make %[2]s its output, with -o in most compilers, or correct module in %[3]s", e.why, e.Module, ConfigFile, e.Command)
}

// ReadManifest reads the manifest.
func (p *Project) ReadManifest() ([]byte, error) {
	data, err := regular.Read(filepath.Join(p.Dir, filepath.FromSlash(p.Manifest)), abi.DefaultModuleLimits().ManifestBytes)
	if err != nil {
		return nil, fmt.Errorf("read the manifest that %s names: %w", ConfigFile, err)
	}
	return data, nil
}

// state is what watched files looked like: their sizes and times by path.
type state map[string][2]int64

// readState returns the state of the watched files and of ConfigFile. Hidden directories and the built module are left out.
func (p *Project) readState() (state, error) {
	s, seen := state{}, 0
	err := filepath.WalkDir(p.Dir, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at != p.Dir {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if at != p.Dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "target") {
				return fs.SkipDir
			}
			return nil
		}
		if seen++; seen > mostFiles {
			return fmt.Errorf("there are more than %d files below it", mostFiles)
		}
		inside, err := filepath.Rel(p.Dir, at)
		if err != nil || !p.watched(filepath.ToSlash(inside)) {
			return err
		}
		if info, err := d.Info(); err == nil {
			s[inside] = [2]int64{info.Size(), info.ModTime().UnixNano()}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", p.Dir, err)
	}
	return s, nil
}

// Sources returns the files that the module is built from, slash-separated and sorted: those that are watched, and a script that builds it.
func (p *Project) Sources() ([]string, error) {
	seen, err := p.readState()
	if err != nil {
		return nil, err
	}
	for _, word := range p.Config.Build {
		if info, err := os.Stat(filepath.Join(p.Dir, word)); err == nil && info.Mode().IsRegular() && filepath.IsLocal(word) {
			seen[filepath.Clean(word)] = [2]int64{}
		}
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, filepath.ToSlash(name))
	}
	slices.Sort(names)
	return names, nil
}

func (p *Project) watched(file string) bool {
	switch {
	case file == path.Clean(p.Module) || matches(p.Generated, file):
		return false
	case file == path.Clean(p.Manifest) || file == ConfigFile:
		return true
	}
	return matches(p.Watch, file)
}

func matches(patterns []string, file string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		name := file
		if !strings.Contains(pattern, "/") {
			name = path.Base(file)
		}
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// tail keeps the last mostOutput bytes that are written to it.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if len(t.data) > 2*mostOutput {
		t.data = append(t.data[:0], t.data[len(t.data)-mostOutput:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	return strings.ToValidUTF8(string(t.data[max(0, len(t.data)-mostOutput):]), "\uFFFD")
}
