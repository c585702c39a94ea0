package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Collect makes the templates from the repository: sdk/LANGUAGE/example is the project, and the rest of sdk/LANGUAGE the SDK. The SDK for
// Go comes with the generator of codecs and the package abi, from which that takes its names.
func Collect(repository fs.FS) (Templates, error) {
	t := Templates{}
	for _, language := range Languages() {
		if err := t.collect(repository, language); err != nil {
			return nil, fmt.Errorf("collect the template of %s: %w", language, err)
		}
	}
	if err := t.collectABI(repository); err != nil {
		return nil, fmt.Errorf("collect the package abi: %w", err)
	}
	mod, err := fs.ReadFile(repository, "go.mod")
	if err != nil {
		return nil, err
	}
	_, version, found := strings.Cut(string(mod), "\ngo ")
	version, _, ended := strings.Cut(version, "\n")
	if !found || !ended {
		return nil, errors.New("go.mod has no line with the version of Go")
	}
	const sdk = "github.com/alcove-memory/alcove"
	t["go/alcove/go.mod"] = "module " + sdk + "\n\ngo " + version + "\n"
	t["go/go.mod"] = "module example.com/example\n\ngo " + version + "\n\nrequire " + sdk + " v0.0.0\n\nreplace " + sdk + " => ./alcove\n"
	t["typescript/alcove/alcove.d.ts"] = t["javascript/alcove/alcove.d.ts"]
	t["javascript/jsconfig.json"], t["typescript/tsconfig.json"] = checking(`, "checkJs": true`), checking("")
	t["c/compile_flags.txt"], t["cpp/compile_flags.txt"] = "-std=c11\n-I./alcove\n", "-std=c++20\n-I./alcove\n"
	t["cpp/alcove/alcove.h"], t["cpp/alcove/alcove.c"] = t["c/alcove/alcove.h"], t["c/alcove/alcove.c"]
	return t, nil
}

// checking is what editors and tsc read.
func checking(more string) string {
	return `{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2023", "lib": ["es2023"], "module": "esnext", "moduleResolution": "bundler", "types": []` + more + "}}\n"
}

func (t Templates) collect(repository fs.FS, language string) error {
	root := "sdk/" + language
	return fs.WalkDir(repository, root, func(at string, d fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(at, root+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(language, inside):
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || strings.HasSuffix(at, ".wasm"):
			return nil
		}
		data, err := fs.ReadFile(repository, at)
		if err != nil {
			return err
		}
		if file, ok := strings.CutPrefix(inside, "example/"); ok {
			t[language+"/"+file] = strings.ReplaceAll(string(data), "../", "./alcove/")
			return nil
		}
		if tests(language, inside) {
			return nil
		}
		if language == "go" {
			inside = path.Join("sdk/go", inside)
		}
		t[language+"/alcove/"+inside] = string(data)
		return nil
	})
}

// collectABI collects the sources of the Go package abi and the files that they embed.
func (t Templates) collectABI(repository fs.FS) error {
	names, err := fs.Glob(repository, "abi/*.go")
	if err != nil {
		return err
	}
	for _, name := range append(names, "abi/manifest.schema.json") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		t["go/alcove/"+name] = string(data)
	}
	return nil
}

// ignored says which directories are no part of an author's project: what compilers write, samples for tests, and what runs families in the host.
func ignored(language, inside string) bool {
	switch path.Base(inside) {
	case "target", "node_modules":
		return true
	}
	return language == "go" && (inside == "gen/testdata" || inside == "alcovetest")
}

// tests says which files test the SDK itself.
func tests(language, inside string) bool {
	return language == "go" && strings.HasSuffix(inside, "_test.go") || language == "c" && (inside == "alcove_test.c" || inside == "test.sh") || language == "rust" && inside == "test.sh" ||
		language == "zig" && (inside == "sdk_test.zig" || inside == "test.sh") ||
		language == "javascript" && inside != "alcove.d.ts" || language == "python" && inside != "__init__.pyi"
}
