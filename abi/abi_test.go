package abi_test

import (
	"os/exec"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

func TestGeneratedFilesAreWhatTheSourceSays(t *testing.T) {
	out, err := exec.Command("go", "run", "./gen", "-check", "-dir", ".").CombinedOutput()
	if err != nil {
		t.Errorf("gen -check: %v, want generated files that agree with abi.json\n%s", err, out)
	}
}

func TestEveryClassHasAnOutcome(t *testing.T) {
	for _, class := range abi.Classes() {
		if class.Outcome() == "" {
			t.Errorf("class %s has none", class)
		}
	}
	if got := abi.Class("other").Outcome(); got != "" {
		t.Errorf("what is no class has the outcome %s", got)
	}
}

func TestEveryOperationNeedsAKnownCapability(t *testing.T) {
	for op, needs := range abi.Ops() {
		if needs != "" && needs.Scope() == "" {
			t.Errorf("%s needs %s, which is none", op, needs)
		}
		if int64(len(op)) > abi.DefaultLimits().OpBytes {
			t.Errorf("%s is longer than op_bytes", op)
		}
	}
}

func TestEveryHookHasAKind(t *testing.T) {
	for _, c := range []struct {
		hook abi.Hook
		kind abi.Kind
	}{{abi.HookStore, abi.KindHook}, {abi.HookJob, abi.KindHook}, {abi.HookRank, abi.KindScore}, {abi.HookEmbed, abi.KindEmbed}, {"other", 0}} {
		if got := c.hook.Kind(); got != c.kind {
			t.Errorf("%s: kind %d, want %d", c.hook, got, c.kind)
		}
	}
}

func TestTheDefaultsAreWithinTheMaxima(t *testing.T) {
	defaults, most := abi.DefaultLimits(), map[string]int64{}
	limits := abi.MaxLimits()
	limits.Each(func(name string, value *int64) { most[name] = *value })
	defaults.Each(func(name string, value *int64) {
		if *value <= 0 || *value > most[name] {
			t.Errorf("%s: %d of at most %d", name, *value, most[name])
		}
	})
}
