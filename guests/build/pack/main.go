// Command pack packs one module with several manifests: it writes the image of all that a program carries, with the module's native
// code for the platform and processor on which it runs, and a module for each where a folder for them is given. It packs the templates of
// new families, too.
//
//	pack -module all.wasm -image dist/families.image -templates dist/templates.zst guests/families/*/manifest.json
//	pack -module all.wasm -modules bin/families guests/families/*/manifest.json
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/guests/build/project"
	"github.com/alcove-memory/alcove/host/sandbox"
)

func main() {
	module := flag.String("module", "", "the module of all families")
	out := flag.String("image", "", "the file to write the image of all families to")
	modules := flag.String("modules", "", "the folder to write the module of each family to")
	templates := flag.String("templates", "", "the file to write the templates of new families to, from the repository in the current directory")
	flag.Parse()
	var err error
	if *templates != "" {
		err = packTemplates(*templates)
	}
	if *templates == "" || *module != "" {
		err = errors.Join(err, pack(*module, *out, *modules, flag.Args()))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func packTemplates(path string) error {
	t, err := project.Collect(os.DirFS("."))
	if err != nil {
		return err
	}
	data, err := project.Write(t)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func pack(path, out, modules string, manifests []string) error {
	if path == "" || out == "" && modules == "" || len(manifests) == 0 {
		return errors.New("give the module with -module, what to write with -image or -modules, and the files of manifests")
	}
	module, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	packed := map[string][]byte{}
	var names []string
	for _, path := range manifests {
		manifest, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data, err := sandbox.Pack(module, manifest)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		m, err := sandbox.ReadManifest(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		names, packed[m.Name] = append(names, m.Name), data
		if modules == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(modules, m.Name+".wasm"), data, 0o644); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	c := image.Content{Module: module, Packed: packed, Names: names}
	if err := precompile(&c, out); err != nil {
		return err
	}
	var all bytes.Buffer
	if err := image.Write(&all, c); err != nil {
		return err
	}
	return os.WriteFile(out, all.Bytes(), 0o644)
}

// precompile adds the native code for this platform and processor. It is taken from the last image if that has it.
func precompile(c *image.Content, last string) error {
	p, err := sandbox.Precompile(c.Packed[c.Names[0]])
	if err != nil {
		return fmt.Errorf("precompile the module: %w", err)
	}
	c.Body = p.Body
	if data, err := os.ReadFile(last); err == nil {
		if i, err := image.Open(data); err == nil {
			c.Native = i.Native()
		}
	}
	if n := c.Native; n != nil && n.Code == p.Code && n.Engine == p.Engine && n.Check() == nil {
		return nil
	}
	name, code, err := p.Native()
	if err != nil {
		return fmt.Errorf("precompile the module: %w", err)
	}
	c.Native = &image.Native{Code: p.Code, Engine: p.Engine, Name: name}
	return c.Native.Compress(code)
}
