package registry

import (
	"bytes"
	"crypto/ed25519"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry/signature"
)

func publicText(n byte) string {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
	return signature.FormatPublic(key.Public().(ed25519.PublicKey))
}

func TestKeysThatCannotBeMeantAreRefused(t *testing.T) {
	for name, keys := range map[string]map[string]Key{
		"no key":           {"a": {Public: "AAAA"}},
		"two names of one": {"a": {Public: publicText(1)}, "b": {Public: publicText(1)}},
		"a name":           {"a b": {Public: publicText(1)}},
		"a long reason":    {"a": {Public: publicText(1), Revoked: strings.Repeat("x", reasonLimit+1)}},
	} {
		l := example()
		if l.Keys = keys; l.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestALockIsNarrowedByTakingPowersAwayAlone(t *testing.T) {
	past := time.Unix(0, 0).UTC()
	cases := map[string]struct {
		change func(*Lock)
		want   bool
	}{
		"nothing":              {func(*Lock) {}, true},
		"a revoked capability": {func(l *Lock) { l.edit("auto-tag", func(g *Grant) { g.Capabilities = g.Capabilities[:1] }) }, true},
		"a disabled family":    {func(l *Lock) { l.edit("auto-tag", func(g *Grant) { g.Disabled = true }) }, true},
		"a revoked key":        {func(l *Lock) { l.Keys["k"] = Key{Public: publicText(1), Revoked: "stolen"} }, true},
		"a granted capability": {func(l *Lock) {
			l.edit("auto-tag", func(g *Grant) {
				g.Capabilities = append(g.Capabilities, Capability{Name: abi.CanHTTP, Scope: []string{"*"}})
			})
		}, false},
		"a wider scope": {func(l *Lock) {
			l.edit("redactor", func(g *Grant) { g.Capabilities = []Capability{{Name: abi.CanMemoryRead, Scope: []string{"*"}}} })
		}, false},
		"a hook turned off":      {func(l *Lock) { l.edit("auto-tag", func(g *Grant) { g.Hooks = nil }) }, false},
		"another digest":         {func(l *Lock) { l.edit("auto-tag", func(g *Grant) { g.Digest = other }) }, false},
		"a raised limit":         {func(l *Lock) { l.edit("auto-tag", func(g *Grant) { g.Limits = map[string]int64{"wall_ms": 200} }) }, false},
		"a removed family":       {func(l *Lock) { delete(l.Families, "auto-tag") }, false},
		"a new key":              {func(l *Lock) { l.Keys["m"] = Key{Public: publicText(2)} }, false},
		"a forgotten key":        {func(l *Lock) { delete(l.Keys, "k") }, false},
		"a key that holds later": {func(l *Lock) { l.Keys["k"] = Key{Public: publicText(1), Expires: &past} }, false},
		"an endpoint":            {func(l *Lock) { l.Endpoints = map[string]Endpoint{} }, false},
		"fewer signatures":       {func(l *Lock) { l.Signatures = 1 }, false},
	}
	for name, c := range cases {
		before, after := trusting(), trusting()
		c.change(&after)
		if got := Narrows(before, after); got != c.want {
			t.Errorf("%s: Narrows = %v, want %v", name, got, c.want)
		}
	}
	before, after := trusting(), trusting()
	before.Keys["k"] = Key{Public: publicText(1), Revoked: "stolen"}
	if Narrows(before, after) {
		t.Error("a key is trusted again")
	}
}

func trusting() Lock {
	l := example()
	l.Keys, l.Signatures = map[string]Key{"k": {Public: publicText(1)}}, 2
	return l
}

func (l *Lock) edit(name string, change func(*Grant)) {
	g := l.Families[name]
	change(&g)
	l.Families[name] = g
}

func TestADiffHasTheLinesThatDifferBehindTheirParts(t *testing.T) {
	before, after := example(), example()
	after.edit("redactor", func(g *Grant) { g.Version = "2.0.0" })
	delete(after.Endpoints, "local")
	got, err := Diff(before, after)
	want := []string{`   "families": {`, `     "redactor": {`, `+      "version": "2.0.0",`}
	if err != nil || !slices.Equal(got[:min(3, len(got))], want) || !slices.Contains(got, `-    "local": {`) {
		t.Errorf("Diff = %s, %v, want it to begin with %q and to take away the endpoint", strings.Join(got, "\n"), err, want)
	}
	if same, err := Diff(before, example()); err != nil || len(same) > 0 {
		t.Errorf("Diff of a lock and itself = %q, %v, want no lines", same, err)
	}
}

func TestHowAFamilyWritesIsWrittenAndNotRead(t *testing.T) {
	l := example()
	l.edit("auto-tag", func(g *Grant) {
		g.Capabilities = []Capability{{Name: abi.CanMemoryWrite, Scope: []string{"*"}, During: Calls}, {Name: abi.CanMemoryPropose, Scope: []string{"*"}}}
	})
	data, err := Encode(l)
	if err != nil || !strings.Contains(string(data), `"writes": "mixed"`) {
		t.Errorf("Encode = %s, %v, want it to say that writes are mixed", data, err)
	}
	if got, err := Parse(bytes.Replace(data, []byte(`"mixed"`), []byte(`"propose"`), 1)); err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("Parse of other writes = %+v, %v, want %+v", got, err, l)
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	ordered := []string{"0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := CompareVersions(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}
