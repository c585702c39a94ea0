package configfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/alcove-memory/alcove/host/regular"
)

// Resolver finds what references stand for. Its texts are never printed.
type Resolver struct {
	Dir string                           // relative paths of {file: path} begin here
	Env func(name string) (string, bool) // nil: no variable is set
}

// Read reads a file. Each error that a line causes is a *LineError.
func Read(data []byte, r Resolver) (*File, error) {
	if len(data) > Limit {
		return nil, &LineError{1 + bytes.Count(data[:Limit], []byte("\n")), fmt.Errorf("the file has more than %d bytes, which is the most", Limit)}
	}
	root, err := document(data)
	if err != nil {
		return nil, err
	}
	f := &File{}
	if err := (decoder{r}).decode(root, reflect.ValueOf(f).Elem(), 0); err != nil {
		return nil, err
	}
	if f.Version != 1 {
		return nil, wrong(root, "version %d is not known: begin the file with version: 1", f.Version)
	}
	return f, nil
}

// document parses the one document of a file.
func document(data []byte) (*yaml.Node, error) {
	var first, next yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(data))
	if err := in.Decode(&first); errors.Is(err, io.EOF) {
		return nil, &LineError{1, errors.New("the file is empty: begin it with version: 1")}
	} else if err != nil {
		return nil, placed(err)
	}
	switch err := in.Decode(&next); {
	case err == nil:
		return nil, wrong(&next, "a second document begins: write all in one")
	case !errors.Is(err, io.EOF):
		return nil, placed(err)
	}
	return first.Content[0], nil
}

// placed is an error of the parser, which names the line in its text; line 1 if it names none.
func placed(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	number, rest, found := strings.Cut(strings.TrimPrefix(text, "line "), ": ")
	if line, bad := strconv.Atoi(number); found && bad == nil {
		return &LineError{line, errors.New(rest)}
	}
	return &LineError{1, errors.New(text)}
}

// text replaces each ${NAME} by the variable of the environment, and $${ by ${.
func (r Resolver) text(text string) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var failed error
	reference := regexp.MustCompile(`\$?\$\{[^}]*\}?`)
	text = reference.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		value, err := r.variable(found)
		if err != nil && failed == nil {
			failed = err
		}
		return value
	})
	if failed == nil && len(text) > mostText {
		failed = fmt.Errorf("the text has more than %d bytes with what its references stand for", mostText)
	}
	return text, failed
}

func (r Resolver) variable(reference string) (string, error) {
	name := regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`).FindStringSubmatch(reference)
	if name == nil {
		return "", fmt.Errorf("%.80q is not a reference: write ${NAME}, or $${ for the characters themselves", reference)
	}
	if r.Env != nil {
		if value, set := r.Env(name[1]); set {
			return value, nil
		}
	}
	return "", fmt.Errorf("the variable %s is not set in the environment", name[1])
}

// file is what a file has, without its last line break.
func (r Resolver) file(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Dir, path)
	}
	data, err := regular.Read(path, mostText)
	if err != nil {
		return "", fmt.Errorf("{file: …}: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}
