// Command doc writes the pages of first-party families, from their manifests and worked examples, and the page of all settings.
//
//	doc -out docs/families -settings docs/CONFIGURATION.md guests/families/*/manifest.json
//
// A family has a page if there is an example.txt beside its manifest. With -check, nothing is written, and a page that is not what would
// be written is an error.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests/build/doc/page"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/sandbox"
)

func main() {
	out := flag.String("out", "", "the folder of the pages")
	settings := flag.String("settings", "", "the file of the page of all settings; empty: none")
	check := flag.Bool("check", false, "write nothing; fail if a page is not what would be written")
	flag.Parse()
	err := write(*out, flag.Args(), *check)
	if err == nil && *settings != "" {
		err = writeSettings(*settings, flag.Args(), *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "doc:", err)
		os.Exit(1)
	}
}

func write(out string, manifests []string, check bool) error {
	if out == "" || len(manifests) == 0 {
		return errors.New("give the folder of the pages with -out, and the files of manifests")
	}
	for _, path := range manifests {
		example, err := os.ReadFile(filepath.Join(filepath.Dir(path), "example.txt"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m, err := sandbox.ParseManifest(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text, err := page.Of(m, string(example))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := writeOne(filepath.Join(out, m.Name+".md"), []byte(text), check); err != nil {
			return err
		}
	}
	return nil
}

// writeSettings writes the page of all settings.
func writeSettings(path string, manifests []string, check bool) error {
	var all []*abi.Manifest
	for _, file := range manifests {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		m, err := sandbox.ParseManifest(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *abi.Manifest) int { return cmp.Compare(a.Name, b.Name) })
	text, err := page.Configuration(all)
	if err != nil {
		return err
	}
	return writeOne(path, []byte(text), check)
}

func writeOne(path string, text []byte, check bool) error {
	if !check {
		return durable.WriteFile(path, text, 0o644)
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, text) {
		return fmt.Errorf("%s is not current: go run ./guests/build/doc -out docs/families -settings docs/CONFIGURATION.md guests/families/*/manifest.json", path)
	}
	return nil
}
