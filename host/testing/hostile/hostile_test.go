package hostile_test

import (
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/hostile"
)

func TestTheCorpusIsLargeAndItsNamesAreUnique(t *testing.T) {
	all := hostile.Corpus()
	t.Logf("%d cases", len(all))
	if len(all) < 200 {
		t.Errorf("there are %d cases", len(all))
	}
	seen := map[string]bool{}
	for _, c := range all {
		if seen[c.Name] {
			t.Errorf("%s: the name is not unique", c.Name)
		}
		seen[c.Name] = true
		if c.Class.Outcome() == "" {
			t.Errorf("%s: %q is no class", c.Name, c.Class)
		}
	}
}

func TestModulesAreInvalidOnlyAsIntended(t *testing.T) {
	for _, c := range hostile.Corpus() {
		_, err := wasm.Parse(c.Module, wasm.Limits{Customs: 10_000, Name: 1 << 20})
		if c.Class != abi.ClassStructure && c.Class != abi.ClassSize && err != nil {
			t.Errorf("%s: Parse: %v, want a valid module", c.Name, err)
		}
	}
}
