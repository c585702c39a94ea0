package guests_test

import (
	"testing"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// What the image says of its families is so: their digests, the body that they share, and the native code of its rewritten form. It is
// rewritten for each family, so three of them have their turn each day.
func TestWhatTheImageSaysOfItsFamiliesIsSo(t *testing.T) {
	if !guests.Embedded() {
		t.Skip("there is no image without -tags guests, after make guests")
	}
	for _, f := range stress.Pick(t, 3, guests.All()) {
		module, err := f.Read()
		must.Do(t, err)
		p, err := sandbox.Precompile(module)
		must.Do(t, err)
		if f.Body() != p.Body {
			t.Errorf("%s: its body is %s, and the image has %s", f.Name, p.Body, f.Body())
		}
		if n := f.Native(); n == nil || n.Code != p.Code { // the engine has another version in tests, which have no build information
			t.Fatalf("%s: the native code is not of its rewritten form %s: run make guests", f.Name, p.Code)
		}
	}
	must.Do(t, guests.All()[0].Native().Check())
}
