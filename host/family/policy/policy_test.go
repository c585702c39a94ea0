package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

func TestPowersAreWhatManifestOperatorAndCallerAllAllow(t *testing.T) {
	read := abi.CanMemoryRead
	cases := []struct {
		name           string
		asked, granted []string
		rights         memory.Rights
		namespace      string
		want           bool
	}{
		{"all three", []string{"*"}, []string{"*"}, memory.FullRights(), "a", true},
		{"not asked for", nil, []string{"*"}, memory.FullRights(), "a", false},
		{"not granted", []string{"*"}, nil, memory.FullRights(), "a", false},
		{"asked for one, granted all", []string{"a"}, []string{"*"}, memory.FullRights(), "a", true},
		{"asked for another, granted all", []string{"b"}, []string{"*"}, memory.FullRights(), "a", false},
		{"asked for all, granted another", []string{"*"}, []string{"b"}, memory.FullRights(), "a", false},
		{"asked for two, granted two, one in common", []string{"a", "b"}, []string{"b", "c"}, memory.FullRights(), "b", true},
		{"asked for two, granted two, not in common", []string{"a", "b"}, []string{"b", "c"}, memory.FullRights(), "a", false},
		{"a caller with that namespace", []string{"*"}, []string{"*"}, memory.RightsTo(nil, []string{"a"}), "a", true},
		{"a caller with another", []string{"*"}, []string{"*"}, memory.RightsTo(nil, []string{"b"}), "a", false},
		{"a caller with none", []string{"*"}, []string{"*"}, memory.Rights{}, "a", false},
		{"a caller who may only read", []string{"*"}, []string{"*"}, memory.FullRights().ReadOnly(), "a", true},
	}
	for _, c := range cases {
		var asked []abi.Request
		var granted []Grant
		if c.asked != nil {
			asked = []abi.Request{{Name: read, Scope: c.asked}}
		}
		if c.granted != nil {
			granted = []Grant{{Name: read, Scope: c.granted}}
		}
		if got := Of("notes", asked, granted, c.rights).Allows(read, c.namespace); got != c.want {
			t.Errorf("%s: Allows = %t, want %t", c.name, got, c.want)
		}
	}
}

func TestACallerWhoMayOnlyReadGivesNoPowerToWrite(t *testing.T) {
	var asked []abi.Request
	var granted []Grant
	for _, c := range abi.Capabilities() {
		var scope []string
		if c.Scope() != "none" {
			scope = []string{"*"}
		}
		asked, granted = append(asked, abi.Request{Name: c, Scope: scope}), append(granted, Grant{Name: c, Scope: scope})
	}
	all, reading := Of("notes", asked, granted, memory.FullRights()), Of("notes", asked, granted, memory.FullRights().ReadOnly())
	if len(all.List()) != len(abi.Capabilities()) {
		t.Errorf("everything is %v", all.List())
	}
	var kept []string
	for _, g := range reading.List() {
		kept = append(kept, string(g.Name))
	}
	if got := strings.Join(kept, " "); got != "memory.read record records.read log.read feed.read branch.read link.read config.read embed scope.read session.read llm http file.read tools.call tools.usage ask.user ask.model ask.roots" {
		t.Errorf("a caller who may only read leaves %s", got)
	}
}

func TestACapabilityThatWritesNeedsTheRightToWrite(t *testing.T) {
	asked := []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"*"}}, {Name: abi.CanMemoryWrite, Scope: []string{"*"}}}
	granted := []Grant{{Name: abi.CanMemoryRead, Scope: []string{"*"}}, {Name: abi.CanMemoryWrite, Scope: []string{"*"}}}
	p := Of("notes", asked, granted, memory.RightsTo([]string{"shared"}, []string{"own"}))
	for _, c := range []struct {
		capability abi.Capability
		namespace  string
		want       bool
	}{
		{abi.CanMemoryRead, "shared", true}, {abi.CanMemoryRead, "own", true}, {abi.CanMemoryRead, "else", false},
		{abi.CanMemoryWrite, "shared", false}, {abi.CanMemoryWrite, "own", true}, {abi.CanMemoryWrite, "else", false},
	} {
		if got := p.Allows(c.capability, c.namespace); got != c.want {
			t.Errorf("%s of %s: %t", c.capability, c.namespace, got)
		}
	}
	if err := p.Check(abi.CanMemoryWrite, "shared"); err == nil || !strings.Contains(err.Error(), "the caller may only read the namespace") {
		t.Errorf("a denial says %v", err)
	}
}

func TestADenialSaysWhoseItIsAndHowItIsMended(t *testing.T) {
	read, write := abi.CanMemoryRead, abi.CanMemoryWrite
	asked := []abi.Request{{Name: write, Scope: []string{"a", "b", "c"}}, {Name: read, Scope: []string{"*"}}, {Name: abi.CanJob}}
	granted := []Grant{{Name: write, Scope: []string{"a", "c"}}}
	all := []Grant{{Name: write, Scope: []string{"*"}}, {Name: read, Scope: []string{"*"}}}
	for want, err := range map[string]error{
		"memory.write for d is not in the manifest of family notes":                                                                                                                        Of("notes", asked, all, memory.FullRights()).Check(write, "d"),
		"log.read is not in the manifest of family notes":                                                                                                                                  Of("notes", asked, all, memory.FullRights()).Check(abi.CanLogRead, ""),
		"memory.read for work was not granted to family notes: an operator can grant it, with: alcove family grant notes memory.read=work":                                                 Of("notes", asked, nil, memory.FullRights()).Check(read, "work"),
		"memory.read was not granted to family notes: an operator can grant it, with: alcove family grant notes memory.read":                                                               Of("notes", asked, nil, memory.FullRights()).Check(read, ""),
		"job was not granted to family notes: an operator can grant it, with: alcove family grant notes job":                                                                               Of("notes", asked, nil, memory.FullRights()).Check(abi.CanJob, ""),
		"memory.write for b was not granted to family notes: an operator can grant it, with: alcove family grant notes memory.write=a,c,b":                                                 Of("notes", asked, granted, memory.FullRights()).Check(write, "b"),
		"memory.read for * was not granted to family notes: an operator can grant it, with: alcove family grant notes memory.read":                                                         Of("notes", asked, nil, memory.FullRights()).Check(read, "*"),
		"memory.read for x; rm -rf . was not granted to family notes: an operator can grant it, with: alcove family grant notes memory.read":                                               Of("notes", asked, nil, memory.FullRights()).Check(read, "x; rm -rf ."),
		"memory.read for work was not granted to family notes: the server is locked, so an operator can grant it in a reviewed file alone, with: alcove stop, then alcove lock apply FILE": Of("notes", asked, nil, memory.FullRights()).Advised(Advice{Locked: true}).Check(read, "work"),
		"memory.write for a is denied, because the caller or the tool is read-only":                                                                                                        Of("notes", asked, granted, memory.FullRights().ReadOnly()).Check(write, "a"),
		"memory.read for home is denied, because the caller has no access to the namespace":                                                                                                Of("notes", asked, all, memory.RightsTo(nil, []string{"work"})).Check(read, "home"),
	} {
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != abi.CodeDenied || e.Message != want {
			t.Errorf("Check: %v, want %q", err, want)
		}
	}
}
