package alcove_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

type shoutIn struct {
	Key string `json:"key"`
}

type shoutOut struct {
	Text string `json:"text"`
}

func keyIn(arguments alcove.Raw) (string, error) {
	var in shoutIn
	err := json.Unmarshal(arguments, &in)
	return in.Key, err
}

// family has one tool, which gives a memory in capital letters.
func family() *alcove.Family {
	f := alcove.New()
	f.HandleTool("shout_memory", func(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
		key, err := keyIn(arguments)
		if err != nil {
			return nil, err
		}
		found, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: []string{key}})
		if err != nil {
			return nil, err
		}
		m := found.Memories[0]
		if m == nil {
			return nil, alcove.Errorf(alcove.NotFound, "there is no memory %q", key)
		}
		return json.Marshal(shoutOut{strings.ToUpper(string(m.Value))})
	})
	return f
}

// manifest is that of a family with some tools that take a key and a text, and with more members.
func manifest(members string, tools ...string) []byte {
	var list []string
	for _, name := range tools {
		list = append(list, fmt.Sprintf(`{"name": %q, "description": "Does it.", "input_schema": {"type": "object", "properties": {"key": {"type": "string"}, "text": {"type": "string"}}}}`, name))
	}
	return []byte(`{"abi": 1, "name": "example", "version": "1.0.0", "description": "Is an example.", "tools": [` + strings.Join(list, ", ") + `],
		"capabilities": [{"name": "memory.read", "scope": ["*"], "reason": "r"}, {"name": "memory.write", "scope": ["*"], "reason": "r"}, {"name": "record", "scope": ["*"], "reason": "r"}]` + members + `}`)
}

func TestAToolFindsAMemory(t *testing.T) {
	s := alcovetest.New(t, family(), manifest("", "shout_memory"))
	s.Put(alcove.Memory{Key: "tea", Value: alcove.JSON("green")})
	var out shoutOut
	if err := s.Tool("shout_memory", shoutIn{"tea"}, &out); err != nil || out.Text != `"GREEN"` {
		t.Errorf("shout_memory = %+v, %v, want the text GREEN", out, err)
	}
	if err := s.Tool("shout_memory", shoutIn{"cake"}, &out); err == nil || err.Error() != `not_found: there is no memory "cake"` {
		t.Errorf("shout_memory of cake: %v, want that there is no memory", err)
	}
}

// A tool without a manifest that alcove family gen wrote reads its arguments with encoding/json.
func ExampleFamily_HandleTool() {
	f := alcove.New()
	f.HandleTool("keep_note", func(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
		var in struct{ Key, Text string }
		if err := json.Unmarshal(arguments, &in); err != nil {
			return nil, err
		}
		if in.Text == "" {
			return nil, alcove.Errorf(alcove.InvalidArgument, "the note %q has no text", in.Key)
		}
		_, err := c.Store(in.Text).Key(in.Key).Put()
		return alcove.Raw("{}"), err
	})
}

// A store hook looks at what is about to be stored, and may refuse it.
func ExampleFamily_OnStore() {
	f := alcove.New()
	f.OnStore(func(_ *alcove.Call, entries []alcove.Entry) ([]*alcove.Change, error) {
		for _, e := range entries {
			if strings.Contains(string(e.Value), "password") {
				return nil, alcove.Refuse("memories hold no passwords")
			}
		}
		return nil, nil
	})
	out, err := f.Handle(nil, alcove.KindHook, []byte(`{"hook": "store", "entries": [{"key": "login", "value": "the password is tea"}]}`))
	fmt.Println(string(out), err)
	// Output:
	// {"refuse":"memories hold no passwords"} <nil>
}

func TestWhatAFailedRequestStagedIsThrownAway(t *testing.T) {
	f := alcove.New()
	own := alcove.Records[alcove.Raw]{Name: "own"}
	f.HandleTool("put", func(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
		key, err := keyIn(arguments)
		if err != nil {
			return nil, err
		}
		if _, err := c.MemoryPut(alcove.MemoryPutRequest{Items: []alcove.MemoryItem{{Key: key, Value: alcove.JSON(1)}}}); err != nil {
			return nil, err
		}
		if err := own.Put(c, "r", alcove.JSON(1)); err != nil {
			return nil, err
		}
		if key == "bad" {
			return nil, alcove.Errorf(alcove.Denied, "no")
		}
		return alcove.Raw("{}"), nil
	})
	s := alcovetest.New(t, f, manifest(`, "collections": [{"name": "own"}]`, "put"))
	if err := s.Tool("put", shoutIn{"bad"}, nil); alcove.CodeOf(err) != alcove.Denied || s.Memory("bad") != nil || s.Record("own", "r") != nil {
		t.Errorf("%v, memory %v", err, s.Memory("bad"))
	}
	if err := s.Tool("put", shoutIn{"good"}, nil); err != nil || s.Memory("good").Version == 0 || s.Record("own", "r") == nil {
		t.Errorf("%v, memory %v", err, s.Memory("good"))
	}
	s.DryRun = true
	if err := s.Tool("put", shoutIn{"dry"}, nil); err != nil || s.Memory("dry") != nil {
		t.Errorf("%v, memory %v", err, s.Memory("dry"))
	}
}

func TestOnlyARefusalRefusesAStore(t *testing.T) {
	f := alcove.New()
	seen := alcove.Records[alcove.Raw]{Name: "seen"}
	f.OnStore(func(c *alcove.Call, entries []alcove.Entry) ([]*alcove.Change, error) {
		if err := seen.Put(c, entries[0].Key, alcove.JSON(1)); err != nil {
			return nil, err
		}
		switch entries[0].Key {
		case "secret":
			return nil, alcove.Refuse("no secrets")
		case "lost":
			_, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: []string{"k"}})
			return nil, err
		case "odd":
			return []*alcove.Change{nil, nil}, nil
		}
		return nil, nil
	})
	s := alcovetest.New(t, f, manifest(`, "hooks": {"store": {"on_failure": "refuse"}}, "collections": [{"name": "seen"}]`))
	s.Ops[alcove.OpMemoryGet] = func([]byte) (any, error) { return nil, alcove.Errorf(alcove.Denied, "not granted") }
	if _, err := s.Store(alcove.Entry{Key: "secret", Value: alcove.JSON(1)}); alcove.CodeOf(err) != alcove.Denied || !strings.Contains(err.Error(), "refused it: no secrets") {
		t.Errorf("a refusal: %v", err)
	}
	for _, key := range []string{"lost", "odd"} {
		if _, err := s.Store(alcove.Entry{Key: key, Value: alcove.JSON(1)}); alcove.CodeOf(err) != alcove.Unavailable {
			t.Errorf("%s is a failure, not a refusal: %v", key, err)
		}
	}
	if _, err := s.Store(alcove.Entry{Key: "tea", Value: alcove.JSON(1)}); err != nil || s.Record("seen", "tea") == nil {
		t.Errorf("tea: %v", err)
	}
	for _, key := range []string{"secret", "lost", "odd"} {
		if s.Record("seen", key) != nil {
			t.Errorf("what was staged about %s is kept", key)
		}
	}
}
