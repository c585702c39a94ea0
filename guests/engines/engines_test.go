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
	for _, language := range engines.Languages() {
		module, err := engines.Of(language)
		if err != nil {
			t.Fatal(err)
		}
		report, err := sandbox.Check(module, sandbox.Options{Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(report.Imports)
		if want := []string{"alcove.call", "alcove.read", "alcove.write"}; !slices.Equal(report.Imports, want) {
			t.Errorf("the engine of %s imports %q, want %q", language, report.Imports, want)
		}
		if report.Bytes > 1_000_000 {
			t.Errorf("the engine of %s has %d bytes, want at most 1,000,000", language, report.Bytes)
		}
	}
}

// The parts that a bill of materials names are those of the scripts.
func TestThePartsOfAnEngineAreThoseOfItsScript(t *testing.T) {
	var scripts string
	for _, language := range engines.Languages() {
		script, err := os.ReadFile(language + "/build.sh")
		if err != nil {
			t.Fatal(err)
		}
		scripts += string(script)
	}
	for _, p := range engines.Parts()[:2] {
		if !strings.Contains(scripts, "version="+p.Version+"\n") {
			t.Errorf("a part is %+v, want it in the version of build.sh", p)
		}
	}
}

func TestAnUnknownLanguageHasNoEngine(t *testing.T) {
	if _, err := engines.Of("cobol"); err == nil || !strings.Contains(err.Error(), `no engine for the language "cobol"`) {
		t.Errorf("Of(cobol): %v, want an error that names it", err)
	}
}
