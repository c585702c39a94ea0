package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

const reminders = "../../guests/examples/reminders"

// remindersIn are the sources of one family in each language.
var remindersIn = []struct{ language, source string }{
	{"Go", "go/family.go"}, {"Rust", "rust/family.rs"}, {"C", "c/family.c"}, {"C++", "cpp/family.cpp"}, {"Zig", "zig/family.zig"}, {"AssemblyScript", "assemblyscript/family.ts"},
	{"JavaScript", "javascript/family.js"}, {"TypeScript", "typescript/family.ts"}, {"Python", "python/family.py"},
}

// TestCostsOfOneFamilyInEachLanguage prints a table of what the reminders cost in each language whose compiler can be had. Times judge
// nothing. Without ALCOVE_COSTS it measures Python, which needs none.
func TestCostsOfOneFamilyInEachLanguage(t *testing.T) {
	loads, calls := rounds(t)
	var table strings.Builder
	table.WriteString("\n| language | lines | module | cold load | warm load | call with 1 operation | fuel of a call |\n|---|---|---|---|---|---|---|\n")
	for _, r := range remindersIn {
		if calls == 1 && r.language != "Python" {
			continue
		}
		raw, why := remindersModule(t, r.source)
		if why != "" {
			fmt.Fprintf(&table, "| %s | not built: %s | | | | | |\n", r.language, why)
			continue
		}
		fmt.Fprintf(&table, "| %s | %d | %s |\n", r.language, linesOf(t, filepath.Join(reminders, r.source)), remindersCost(t, raw, manifestOf(t, r.source), loads, calls))
	}
	t.Logf("%s\nmedians of %d loads and %d calls", &table, loads, calls)
}

// remindersModule builds the family of a source, or says why it cannot.
func remindersModule(t *testing.T, source string) (raw []byte, why string) {
	t.Helper()
	language := filepath.Dir(source)
	script := filepath.Join(reminders, language, "build.sh")
	if _, err := os.Stat(script); err != nil {
		return scripted(t, filepath.Join(reminders, source)), ""
	}
	out := filepath.Join(t.TempDir(), "raw.wasm")
	build := exec.Command("sh", "../compilers.sh", language, script)
	build.Env = append(os.Environ(), "OUT="+out)
	said, err := build.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		return nil, string(bytes.TrimSpace(said))
	}
	if err != nil {
		t.Fatalf("build the reminders in %s: %v\n%s", language, err, said)
	}
	if raw, err = os.ReadFile(out); err != nil {
		t.Fatal(err)
	}
	return raw, ""
}

// manifestOf is the manifest of a source: one of its own, or the one that all others have.
func manifestOf(t *testing.T, source string) []byte {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(reminders, filepath.Dir(source), "manifest.json"))
	if errors.Is(err, os.ErrNotExist) {
		manifest, err = os.ReadFile(filepath.Join(reminders, "manifest.json"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

// remindersCost is what a call costs that adds a card, as the cells of a row. Each language stores the same record and gives the same answer.
func remindersCost(t *testing.T, raw, manifest []byte, loads, calls int) string {
	t.Helper()
	packed, err := sandbox.Pack(raw, manifest)
	if err != nil {
		t.Fatal(err)
	}
	var cold, warm, called []time.Duration
	var fuel int64
	for range loads {
		cache := sandbox.Cache{Dir: filepath.Join(t.TempDir(), "cache")}
		_, took := loaded(t, packed, cache)
		m, again := loaded(t, packed, cache)
		cold, warm = append(cold, took), append(warm, again)
		for range calls {
			r := asked(t, m, newCard())
			if want := `{"card":"a","due":20605}`; !same(r.Output, []byte(want)) {
				t.Fatalf("reminders_add = %s, want %s", r.Output, want)
			}
			called, fuel = append(called, r.Time), r.Fuel
		}
	}
	return fmt.Sprintf("%d KB | %.0f ms | %.1f ms | %.0f µs | %d", len(packed)/1000, ms(median(cold)), ms(median(warm)), 1000*ms(median(called)), fuel)
}

// newCard is a call that adds a card, and what the host is asked.
func newCard() scene {
	s := scene{Name: "a card", Kind: abi.KindTool, Request: map[string]json.RawMessage{"tool": json.RawMessage(`"reminders_add"`), "arguments": json.RawMessage(`{"card":"a","text":"one"}`)}}
	s.Host = append(s.Host, step{Op: "record.put", Response: json.RawMessage(`{"stored":1}`),
		Request: json.RawMessage(`{"collection":"cards","items":[{"key":"a","value":{"text":"one","days":0,"times":0,"ease":250,"due":20605}}]}`)})
	return s
}
