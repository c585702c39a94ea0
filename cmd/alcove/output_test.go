package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// onlyRead are the arguments and flags that mention files which no command writes: they are read, or are folders of their own.
func onlyRead() []string {
	return []string{
		"audit verify --anchor", "audit verify --restored", "backup --credentials-file", "backup --incremental", "backup --passphrase-file", "backup --recipients-file", "export --passphrase-file", "export --recipients-file", "import --identity-file", "import --passphrase-file", "restore --credentials-file", "restore --identity-file", "restore --passphrase-file", "bench recall --embedder-key-file", "bench recall --embedder-path", "bench scale --dir", "bench scale --text", "config apply", "config plan", "demo --serve", "embedder check --key-file", "embedder check --path", "embedder install --digest", "embedder install --from", "embedder set --key-file",
		"embedder set --path", "endpoint add --key-file", "family call", "family call --seed", "family check", "family dev", "family dev --seed",
		"family gen --check", "family inspect", "family install", "family install --signature", "family pack --manifest", "family publish", "family publish --key", "family keygen --passphrase-file", "family publish --passphrase-file", "family attach", "family bundle", "family bundle --lock", "family bundle --signature", "family sbom", "family sign --passphrase-file", "family sign --public", "family search --index", "family search --key", "family push", "family pull --key", "family provenance make", "family provenance make --key", "family provenance make --passphrase-file", "family provenance make --public", "family publish --public", "family provenance make --source", "family provenance verify", "family provenance verify --key", "family provenance verify --statement", "family publish --source", "family sbom --provenance",
		"family push --signature", "family sign --key", "family test", "family test --cases", "family test --seed-file", "family trust --release", "family update", "family update --signature",
		"family verify", "family verify --key", "family verify --signature", "import", "lock apply", "lock apply --modules", "mcp --folder", "mcp --project", "purge --set-aside", "replay", "replay --since", "restore",
		"restore --keep-settings", "root add", "root add --max-bytes", "serve --admin-cert", "serve --admin-clients", "serve --admin-key", "serve --audit-keep", "serve --audit-syslog-ca", "serve --auto", "serve --cluster-key-file", "serve --config", "serve --embedder-key-file", "serve --embedder-path",
		"serve --credentials-file", "serve --identity-file", "serve --passphrase-file", "serve --families-dir", "serve --locked", "serve --log-requests", "serve --socket", "serve --tls-cert", "hub init --tls-cert", "hub init --tls-key", "serve --tls-key", "site add --secret-file",
		"site add --secret-stdin", "space move --to", "space move --to-file", "version", "version --check", "version --key",
		"project link", "project unlink", // they write projects.json in the data directory, which no argument names
		"family gen",                                 // its files are the package's: TestOnlyRegularFilesAreReplacedByWhatIsGenerated
		"family meter", "family pack", "family sign", // each has a case of its flag
		"family index",         // it writes index.jsonl in a folder, through writeOutput
		"family test --update", // it writes the regular file that it read, through writeOutput
		"manual",               // each of its files goes through writeOutput
	}
}

// TestEachOutputOfACommandIsTested finds what mentions a file in the command line: a new one has to be said to be read, or gets a case.
func TestEachOutputOfACommandIsTested(t *testing.T) {
	known := map[string]bool{}
	for _, name := range onlyRead() {
		known[name] = true
	}
	for _, c := range outputs() {
		known[c.of] = true
	}
	argument, flag := regexp.MustCompile(`FILE|FOLDER|DIR|\.wasm|PATH|\bOUT`), regexp.MustCompile(`(?i)\bfiles?\b|folder|director|\bpath`)
	mentioned := map[string]bool{}
	eachCommand(newApp(nil, io.Discard, io.Discard, func(string) string { return "" }).command(), func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "alcove ")
		if argument.MatchString(c.Use) {
			mentioned[name] = true
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "out" || f.Shorthand == "o" || flag.MatchString(f.Usage) {
				mentioned[name+" --"+f.Name] = true
			}
		})
	})
	for name := range mentioned {
		if !known[name] {
			t.Errorf("alcove %s mentions a file: give it a case in outputs, or say in onlyRead that no file is written there", name)
		}
	}
	for _, name := range onlyRead() {
		if !mentioned[name] {
			t.Errorf("onlyRead has alcove %s, which mentions no file", name)
		}
	}
}

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, below := range c.Commands() {
		eachCommand(below, do)
	}
}

// TestOnlyKnownFunctionsOfTheCommandLineWriteFiles makes sure that outputs go through writeOutput.
func TestOnlyKnownFunctionsOfTheCommandLineWriteFiles(t *testing.T) {
	allowed := map[string]string{
		"writeOutput":      "the one way of outputs",
		"writeNew":         "makes a file that must not exist",
		"writeProjectFile": "writes into a directory that was made for it",
		"writeSettings":    "cli.json of the data directory",
		"keepSecret":       "a secret in the data directory",
		"develop":          "memories in a directory of its own",
		"copyLocked":       "the draft of a lock file in a directory of its own",
		"lockOfBundle":     "unpacks into a directory of its own",
		"polled":           "opens the standard input again, to read it",
	}
	writes := map[string][]string{"os": {"WriteFile", "Create", "OpenFile", "Rename", "CreateTemp"}, "durable": {"WriteFile", "Write", "Output"}}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || allowed[f.Name.Name] != "" {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				for pkg, names := range writes {
					for _, name := range names {
						if isSelector(n, pkg, name) {
							t.Errorf("%s: %s calls %s.%s: use writeOutput, which replaces only regular files", file, f.Name.Name, pkg, name)
						}
					}
				}
				return true
			})
		}
	}
}

func isSelector(n ast.Node, pkg, name string) bool {
	s, ok := n.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// outputCase is a command that writes a file which the command line names.
type outputCase struct {
	of     string   // the command, and the flag if it is one that names the file
	args   []string // OUT stands for the file, KEYPAIR for its name without .key, MODULE, KEY, MANIFEST and SOURCE for what is read, PACKED for another output
	folder bool     // OUT may be a folder
	fresh  bool     // OUT must not exist
	ends   bool     // the command ends by itself, without the network
}

func outputs() []outputCase {
	const guest = "../../host/sandbox/testdata/guests/c.wasm"
	return []outputCase{
		{of: "export", args: []string{"export", "OUT"}, ends: true},
		{of: "export --memories", args: []string{"export", "--memories", "OUT"}, ends: true},
		{of: "backup", args: []string{"backup", "OUT"}, folder: true, ends: true},
		{of: "bench scale --chart", args: []string{"bench", "scale", "--n", "1", "--skip", "start,calls,backup,verify,conversations", "--chart", "OUT"}, ends: true},
		{of: "family pack --out", args: []string{"family", "pack", guest, "--manifest", "MANIFEST", "-o", "OUT"}, ends: true},
		{of: "family pack --manifest-out", args: []string{"family", "pack", "SOURCE", "-o", "PACKED", "--manifest-out", "OUT"}, ends: true},
		{of: "family sbom --out", args: []string{"family", "sbom", "MODULE", "-o", "OUT"}, ends: true},
		{of: "config export --out", args: []string{"config", "export", "-o", "OUT"}, ends: true},
		{of: "family meter --out", args: []string{"family", "meter", "MODULE", "-o", "OUT"}, ends: true},
		{of: "family sign --out", args: []string{"family", "sign", "MODULE", "--key", "KEY", "--embedded", "-o", "OUT"}, ends: true},
		{of: "family bundle --out", args: []string{"family", "bundle", "MODULE", "-o", "OUT"}, ends: true},
		{of: "family sign --detached", args: []string{"family", "sign", "MODULE", "--key", "KEY", "--detached", "-o", "OUT"}},
		{of: "family pull --out", args: []string{"family", "pull", "127.0.0.1:1/none:1", "--plain-http", "-o", "OUT"}},
		{of: "family publish --entry", args: []string{"family", "publish", "MODULE", "127.0.0.1:1/none:1", "--plain-http", "--key", "KEY", "--entry", "OUT"}},
		{of: "family provenance make --out", args: []string{"family", "provenance", "make", "MODULE", "--key", "KEY", "-o", "OUT"}, ends: true},
		{of: "family keygen", args: []string{"family", "keygen", "KEYPAIR"}, fresh: true},
		{of: "migrate-calls", args: []string{"migrate-calls", "OUT"}, ends: true},
		{of: "serve --audit-anchor", args: []string{"serve", "--audit-anchor", "OUT"}},
	}
}
