// Command gen writes the constants, tables and messages of the ABI from abi.json, for the host and for the SDK, and the examples of
// SPEC.md from the vectors. With -check it says which files are out of date.
//
//	go run ./abi/gen [-check] [-dir abi]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a file is not what would be written")
	dir := flag.String("dir", "abi", "the directory of abi.json")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// outputs are the files that are generated, by their path from that of abi.json, and what makes each.
func outputs(dir string) map[string]func(source) ([]byte, error) {
	return map[string]func(source) ([]byte, error){
		"names.go":      goNames,
		"operations.go": hostOperations,
		"messages.go":   hostMessages,
		filepath.Join("..", "sdk", "go", "names.go"):                              sdkNames,
		filepath.Join("..", "sdk", "go", "operations.go"):                         sdkOperations,
		filepath.Join("..", "sdk", "go", "messages.go"):                           sdkMessages,
		filepath.Join("..", "sdk", "go", "operations_test.go"):                    sdkExchanges,
		filepath.Join("..", "sdk", "rust", "src", "operations.rs"):                rust,
		filepath.Join("..", "sdk", "c", "alcove.h"):                               between(dir, "../sdk/c/alcove.h", "//", cHeader),
		filepath.Join("..", "sdk", "c", "alcove.c"):                               between(dir, "../sdk/c/alcove.c", "//", cSource),
		filepath.Join("..", "sdk", "zig", "alcove.zig"):                           between(dir, "../sdk/zig/alcove.zig", "//", zigTypes),
		filepath.Join("..", "sdk", "zig", "call.zig"):                             between(dir, "../sdk/zig/call.zig", "    //", zigOperations),
		filepath.Join("..", "sdk", "assemblyscript", "assembly", "operations.ts"): assemblyScript,
		filepath.Join("..", "sdk", "javascript", "alcove.d.ts"):                   between(dir, "../sdk/javascript/alcove.d.ts", "//", typeScript),
		filepath.Join("..", "sdk", "python", "__init__.pyi"):                      between(dir, "../sdk/python/__init__.pyi", "#", pythonStub),
		filepath.Join("..", "guests", "engines", "javascript", "alcove.js"):       between(dir, "../guests/engines/javascript/alcove.js", "//", javaScriptForms),
		filepath.Join("..", "guests", "engines", "python", "lib", "alcove.py"):    between(dir, "../guests/engines/python/lib/alcove.py", "#", pythonForms),
		"operations.schema.json":                                                  schemas,
		"alcove.wit":                                                              wit,
		"OPERATIONS.md":                                                           operations(dir),
		"SPEC.md":                                                                 spec(dir), // its tables and examples; the prose stays
	}
}

func run(dir string, check bool) error {
	data, err := os.ReadFile(filepath.Join(dir, "abi.json"))
	if err != nil {
		return err
	}
	s, err := parse(data)
	if err != nil {
		return err
	}
	var failed []error
	for path, generate := range outputs(dir) {
		failed = append(failed, emit(filepath.Join(dir, path), check, s, generate))
	}
	return errors.Join(failed...)
}

func emit(path string, check bool, s source, generate func(source) ([]byte, error)) error {
	want, err := generate(s)
	if err != nil {
		return fmt.Errorf("generate %s: %w", path, err)
	}
	if !check {
		return os.WriteFile(path, want, 0o644)
	}
	if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, want) {
		return fmt.Errorf("%s is not what abi.json says: run go run ./abi/gen", path)
	}
	return nil
}
