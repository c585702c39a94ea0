package main

import (
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// fake is a host that remembers the operations that it was asked for.
type fake struct{ ops []alcove.Op }

func (f *fake) Call(op alcove.Op, _ []byte) ([]byte, error) {
	f.ops = append(f.ops, op)
	return []byte(`{"stored": [{"key": "k"}]}`), nil
}

func (f *fake) Log(string) {}

func TestAGreetingIsRemembered(t *testing.T) {
	host := &fake{}
	tool := func(arguments string) (string, error) {
		out, err := family().Handle(host, alcove.KindTool, []byte(`{"tool": "memory_greet", "config": {"word": "Hello"}, "arguments": `+arguments+`}`))
		return string(out), err
	}
	if out, err := tool(`{"name": "Ada"}`); err != nil || out != `{"text":"Hello, Ada!"}` || len(host.ops) != 1 {
		t.Errorf("%s after %v (%v)", out, host.ops, err)
	}
	if _, err := tool(`{"name": 7}`); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("a number as the name: %v", err)
	}
}
