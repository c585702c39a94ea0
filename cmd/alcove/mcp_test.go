package main

import (
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
)

func TestFlagsOfASessionBecomeItsHello(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  map[string]string
		want owner.Hello
	}{
		{nil, nil, owner.Hello{}},
		{[]string{"--agent"}, map[string]string{"ALCOVE_AGENT": "ann", "ALCOVE_KEY": "k"}, owner.Hello{Agent: "ann", Key: "k"}},
		{[]string{"--agent", "bob", "--read-only"}, map[string]string{"ALCOVE_AGENT": "ann"}, owner.Hello{Agent: "bob", ReadOnly: true}},
		{[]string{"--agent=eve", "--families", " a,,b ", "--developer"}, nil, owner.Hello{Agent: "eve", Families: []string{"a", "b", "developer"}}},
		{[]string{"--namespace", "n", "--branch=b", "--profile", "full"}, map[string]string{"ALCOVE_PROFILE": "deferred"}, owner.Hello{Profile: "full", Namespace: "n", Branch: "b"}},
	} {
		env := func(name string) string { return c.env[name] }
		var f mcpFlags
		command := &cobra.Command{}
		f.define(command, env)
		if err := command.ParseFlags(c.args); err != nil {
			t.Fatalf("ParseFlags(%q): %v", c.args, err)
		}
		f.nameAgent(env, command.Flags().Args())
		if got := f.hello(env); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got hello %+v, want %+v", c.args, got, c.want)
		}
	}
}

func TestAResumedSessionSaysHelloInItsState(t *testing.T) {
	first := owner.Hello{Branch: "main", Namespace: "n", Families: []string{"facts"}, Agent: "ann"}
	if got := resumed(first, bridge.SessionState{}); !reflect.DeepEqual(got, first) {
		t.Errorf("a session without a state: got %+v, want %+v", got, first)
	}
	got := resumed(first, bridge.SessionState{Branch: "idea", Families: []string{}})
	if want := (owner.Hello{Branch: "idea", Namespace: "n", Families: []string{}, Agent: "ann"}); !reflect.DeepEqual(got, want) {
		t.Errorf("a session on another branch: got %+v, want %+v", got, want)
	}
}
