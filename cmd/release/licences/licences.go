// Package licences collects the licence texts of what a program was linked from.
package licences

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// textLimit bounds a licence text, in bytes.
const textLimit = 1 << 20

// text matches the names of files that licences ask to be passed on.
var text = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents|authors)([-._].*)?$`)

// Of returns the texts of a program for a platform, by names such as golang.org/x/sys@v0.49.0/LICENSE. The modules are those that the
// program says it was linked from; a text in a folder below a module counts if a linked package is in that folder or below.
func Of(ctx context.Context, program, goos, goarch, source string) (map[string][]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read how %s was built: %w", program, err)
	}
	folders, err := linked(ctx, goos, goarch, info.Path, source)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		name := m.Path + "@" + m.Version
		if err := collect(texts, name, folders[name]); err != nil {
			return nil, fmt.Errorf("the licence of %s in %s: %w", name, program, err)
		}
	}
	root, err := output(ctx, nil, "", "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	return texts, collect(texts, "std@"+info.GoVersion, []string{strings.TrimSpace(root)})
}

// linked returns the folders of the packages that a package is linked from, and of their modules, by modules with versions.
func linked(ctx context.Context, goos, goarch, pkg, source string) (map[string][]string, error) {
	const form = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}"
	out, err := output(ctx, append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch), source, "go", "list", "-deps", "-f", form, pkg)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]bool{}
	for line := range strings.Lines(out) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != 3 {
			continue
		}
		if all[parts[0]] == nil {
			all[parts[0]] = map[string]bool{parts[1]: true}
		}
		for dir := parts[2]; len(dir) > len(parts[1]); dir = filepath.Dir(dir) {
			all[parts[0]][dir] = true
		}
	}
	folders := map[string][]string{}
	for module, dirs := range all {
		folders[module] = slices.Sorted(maps.Keys(dirs)) // the module's own comes first
	}
	return folders, nil
}

func output(ctx context.Context, env []string, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stderr = env, dir, &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, errs.Bytes())
	}
	return string(out), nil
}

// collect adds the texts in folders, the first of which is the module's. A module without any is an error.
func collect(texts map[string][]byte, module string, folders []string) error {
	if len(folders) == 0 {
		return errors.New("these sources do not link it: build the program from them again")
	}
	found := false
	for _, dir := range folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !text.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			data, err := read(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			below, err := filepath.Rel(folders[0], dir)
			if err != nil {
				return err
			}
			texts[path.Join(module, filepath.ToSlash(below), e.Name())] = data
			found = true
		}
	}
	if !found {
		return errors.New("there is no licence text: see what the module says, and name the file in package licences")
	}
	return nil
}

func read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > textLimit {
		return nil, fmt.Errorf("%s has %d bytes: a licence text has %d at most", name, info.Size(), textLimit)
	}
	return os.ReadFile(name)
}
