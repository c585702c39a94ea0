package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/sdk/go/gen"
)

var update = flag.Bool("update", false, "write what is generated for the sample family")

func TestTheSampleFamilyIsGenerated(t *testing.T) {
	out, err := gen.Generate("testdata/facts")
	if err == nil && *update {
		err = out.Write()
	}
	if err == nil {
		err = out.Check()
	}
	if err != nil {
		t.Error(err)
	}
}

func TestWhatABuildLacksIsNamed(t *testing.T) {
	before := []measurement{{figures{"store": 2}, map[string]string{"hook": "it has none"}}, {figures{"store": 4}, nil}}
	after := []measurement{{figures{"store": 1, "hook": 3}, nil}, {figures{"store": 2, "hook": 5}, nil}}
	var out strings.Builder
	if err := report(&out, before, after); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"store   4.000   2.000  0.500", "hook    none    5.000  none", "not measured before: hook: it has none"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
