//go:build guests

package trial

import (
	"testing"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// The first-party families keep the contract that alcove family test checks. With more arguments:
//
//	make verify-guests && for m in bin/families/*.wasm; do alcove family test $m --inputs 500 || break; done
func TestTheFirstPartyFamiliesKeepTheirContract(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{Cache: sandbox.UserCache()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	for _, f := range guests.All() {
		module, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		// The code of all of them is compiled with the time that a server has for it, and shared.
		shared, err := box.AdmitSource(t.Context(), sandbox.Source{Digest: f.Digest, Manifest: []byte(f.Manifest), Read: sandbox.Hashed(f.Read)}, sandbox.Options{CompileTimeout: catalogue.CarriedTimeout, Body: f.Body()})
		if err != nil {
			t.Fatal(err)
		}
		defer shared.Close()
		report, err := Test(t.Context(), Conformance{Sandbox: box, Module: module, Seed: 1, Inputs: 3})
		if err != nil {
			t.Fatalf("Test(%s): %v", f.Name, err)
		}
		for _, c := range report.Checks {
			for _, p := range c.Problems {
				t.Errorf("%s, %s, %s: %s with %s", f.Name, c.Name, c.Subject, p.Message, p.Case)
			}
		}
	}
}
