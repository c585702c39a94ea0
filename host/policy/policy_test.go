package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

func TestPowersAreWhatManifestOperatorAndCallerAllAllow(t *testing.T) {
	read := abi.CanMemoryRead
	cases := []struct {
		name           string
		asked, granted []string
		caller         Caller
		namespace      string
		want           bool
	}{
		{"all three", []string{"*"}, []string{"*"}, Caller{}, "a", true},
		{"not asked for", nil, []string{"*"}, Caller{}, "a", false},
		{"not granted", []string{"*"}, nil, Caller{}, "a", false},
		{"asked for one, granted all", []string{"a"}, []string{"*"}, Caller{}, "a", true},
		{"asked for another, granted all", []string{"b"}, []string{"*"}, Caller{}, "a", false},
		{"asked for all, granted another", []string{"*"}, []string{"b"}, Caller{}, "a", false},
		{"asked for two, granted two, one in common", []string{"a", "b"}, []string{"b", "c"}, Caller{}, "b", true},
		{"asked for two, granted two, not in common", []string{"a", "b"}, []string{"b", "c"}, Caller{}, "a", false},
		{"a caller with that namespace", []string{"*"}, []string{"*"}, Caller{Namespaces: []string{"a"}}, "a", true},
		{"a caller with another", []string{"*"}, []string{"*"}, Caller{Namespaces: []string{"b"}}, "a", false},
		{"a caller with none", []string{"*"}, []string{"*"}, Caller{Namespaces: []string{}}, "a", false},
		{"a caller who may only read", []string{"*"}, []string{"*"}, Caller{ReadOnly: true}, "a", true},
	}
	for _, c := range cases {
		var asked []abi.Request
		var granted []Grant
		if c.asked != nil {
			asked = []abi.Request{{Name: read, Scope: c.asked}}
		}
		if c.granted != nil {
			granted = []Grant{{read, c.granted}}
		}
		if got := Of(asked, granted, c.caller).Allows(read, c.namespace); got != c.want {
			t.Errorf("%s: %t", c.name, got)
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
		asked, granted = append(asked, abi.Request{Name: c, Scope: scope}), append(granted, Grant{c, scope})
	}
	all, reading := Of(asked, granted, Caller{}), Of(asked, granted, Caller{ReadOnly: true})
	if len(all.List()) != len(abi.Capabilities()) {
		t.Errorf("everything is %v", all.List())
	}
	var kept []string
	for _, g := range reading.List() {
		kept = append(kept, string(g.Name))
	}
	if got := strings.Join(kept, " "); got != "memory.read record log.read feed.read branch.read link.read embed llm http tools.call" {
		t.Errorf("a caller who may only read leaves %s", got)
	}
}

func TestADenialSaysWhoseItIs(t *testing.T) {
	asked := []abi.Request{{Name: abi.CanMemoryWrite, Scope: []string{"a"}}}
	granted := []Grant{{abi.CanMemoryWrite, []string{"a"}}}
	for want, err := range map[string]error{
		"not in the family's manifest": Of(nil, granted, Caller{}).Check(abi.CanMemoryWrite, "a"),
		"was not granted":              Of(asked, nil, Caller{}).Check(abi.CanMemoryWrite, "a"),
		"may only read":                Of(asked, granted, Caller{ReadOnly: true}).Check(abi.CanMemoryWrite, "a"),
		"for b is beyond":              Of(asked, granted, Caller{}).Check(abi.CanMemoryWrite, "b"),
	} {
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != abi.CodeDenied || !strings.Contains(e.Message, want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
