package governance

import (
	"bytes"
	std "crypto/sha256"
	"testing"
)

func TestDigestsAreThoseOfTheStandardLibrary(t *testing.T) {
	for n := range 300 {
		data := bytes.Repeat([]byte{byte(n), 'x'}, n)
		if sha256(data) != std.Sum256(data) {
			t.Fatalf("of %d bytes", len(data))
		}
	}
}

func TestTheNearestRuleHolds(t *testing.T) {
	b := book{Rules: map[string]standard{
		"*": {Write: owner, Delete: approve}, "team": {Write: approve, Approver: "agent:ann"}, "team/open": {Write: anyone}, "alone": {Alone: true, Promote: owner}, "a/b/c/d/e/f/g/h/i": {},
	}}
	for _, c := range []struct{ namespace, change, who, approver string }{
		{"x", "write", owner, human}, {"team", "write", approve, "agent:ann"}, {"team/board", "write", approve, "agent:ann"}, {"team/open", "write", anyone, human},
		{"team/open", "delete", approve, human}, {"alone", "write", anyone, ""}, {"alone", "promote", owner, human}, {"team", "promote", approve, "agent:ann"},
	} {
		if got := b.of(c.namespace, c.change); got.who != c.who || got.approver != c.approver {
			t.Errorf("%s of %s: %+v", c.change, c.namespace, got)
		}
	}
}
