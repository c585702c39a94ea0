package engines_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/host/sandbox"
)

func TestAnEngineImportsTheContractAndNothingElse(t *testing.T) {
	module, err := engines.Of("javascript")
	if err != nil {
		t.Fatal(err)
	}
	report, err := sandbox.Check(module, sandbox.Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(report.Imports)
	if want := []string{"alcove.call", "alcove.read", "alcove.write"}; !slices.Equal(report.Imports, want) {
		t.Errorf("it imports %q, want %q", report.Imports, want)
	}
	if report.Bytes > 1_000_000 {
		t.Errorf("it has %d bytes, want at most 1,000,000", report.Bytes)
	}
}

// The parts that a bill of materials names are those of the script.
func TestThePartsOfAnEngineAreThoseOfItsScript(t *testing.T) {
	script, err := os.ReadFile("javascript/build.sh")
	if err != nil {
		t.Fatal(err)
	}
	if p := engines.Parts()[0]; p.Name != "quickjs" || !strings.Contains(string(script), "version="+p.Version+"\n") {
		t.Errorf("the first part is %+v, want quickjs in the version of build.sh", p)
	}
}

func TestAnUnknownLanguageHasNoEngine(t *testing.T) {
	if _, err := engines.Of("cobol"); err == nil || !strings.Contains(err.Error(), `no engine for the language "cobol"`) {
		t.Errorf("Of(cobol): %v, want an error that names it", err)
	}
}
