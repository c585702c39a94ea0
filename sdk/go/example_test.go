package alcove_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

type shoutIn struct {
	Key string `json:"key"`
}

type shoutOut struct {
	Text string `json:"text"`
}

// family has one tool, which gives a memory in capital letters.
func family() *alcove.Family {
	f := alcove.New()
	reflected.Tool(f, "shout_memory", func(c *alcove.Call, in shoutIn) (shoutOut, error) {
		found, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: []string{in.Key}})
		if err != nil {
			return shoutOut{}, err
		}
		m := found.Memories[0]
		if m == nil {
			return shoutOut{}, alcove.Errorf(alcove.NotFound, "there is no memory %q", in.Key)
		}
		return shoutOut{strings.ToUpper(string(m.Value))}, nil
	})
	return f
}

const manifest = `{"tools":[{"name":"shout_memory"}],"collections":[{"name":"seen"}],"config":[{"key":"volume","default":5}]}`

func Example() {
	s := alcovetest.New(&testing.T{}, family(), []byte(manifest))
	s.Put(alcove.Memory{Key: "tea", Value: alcove.JSON("green")})
	var out shoutOut
	fmt.Println(s.Tool("shout_memory", shoutIn{"tea"}, &out), out.Text)
	fmt.Println(s.Tool("shout_memory", shoutIn{"cake"}, &out))
	// Output:
	// <nil> "GREEN"
	// not_found: there is no memory "cake"
}

// A tool reads its arguments into a struct, and its changes are committed together when it has answered.
func ExampleTool() {
	type in struct {
		Key  string `json:"key"`
		Text string `json:"text"`
	}
	type out struct {
		Version uint64 `json:"version"`
	}
	f := alcove.New()
	reflected.Tool(f, "keep_note", func(c *alcove.Call, in in) (out, error) {
		if in.Text == "" {
			return out{}, alcove.Errorf(alcove.InvalidArgument, "the note %q has no text", in.Key)
		}
		_, err := c.MemoryPut(alcove.MemoryPutRequest{Items: []alcove.MemoryItem{{Key: in.Key, Value: alcove.JSON(in.Text)}}})
		return out{}, err
	})
	s := alcovetest.New(&testing.T{}, f, []byte(`{"tools":[{"name":"keep_note"}]}`))
	fmt.Println(s.Tool("keep_note", in{"tea", "green"}, nil), string(s.Memory("tea").Value))
	fmt.Println(s.Tool("keep_note", in{"cake", ""}, nil), s.Memory("cake"))
	// Output:
	// <nil> "green"
	// invalid_argument: the note "cake" has no text <nil>
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
	s := alcovetest.New(&testing.T{}, f, []byte(`{"hooks":{"store":{}}}`))
	_, err := s.Store(alcove.Entry{Key: "tea", Value: []byte(`"green"`)})
	fmt.Println(err)
	_, err = s.Store(alcove.Entry{Key: "login", Value: []byte(`"the password is tea"`)})
	fmt.Println(err)
	// Output:
	// <nil>
	// refused: memories hold no passwords
}

func TestWhatAFailedRequestStagedIsThrownAway(t *testing.T) {
	f := alcove.New()
	reflected.Tool(f, "put", func(c *alcove.Call, in shoutIn) (shoutOut, error) {
		if _, err := c.MemoryPut(alcove.MemoryPutRequest{Items: []alcove.MemoryItem{{Key: in.Key, Value: alcove.JSON(1)}}}); err != nil {
			return shoutOut{}, err
		}
		if err := reflected.PutRecords(c, "own", "", map[string]any{"r": 1}); err != nil {
			return shoutOut{}, err
		}
		if in.Key == "bad" {
			return shoutOut{}, alcove.Errorf(alcove.Denied, "no")
		}
		return shoutOut{}, nil
	})
	s := alcovetest.New(t, f, []byte(`{"tools":[{"name":"put"}],"collections":[{"name":"own"}]}`))
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
	f.OnStore(func(c *alcove.Call, entries []alcove.Entry) ([]*alcove.Change, error) {
		if err := reflected.PutRecords(c, "seen", "", map[string]any{entries[0].Key: 1}); err != nil {
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
	s := alcovetest.New(t, f, []byte(manifest))
	s.Ops[alcove.OpMemoryGet] = func([]byte) (any, error) { return nil, alcove.Errorf(alcove.Denied, "not granted") }
	var refused *alcove.Refusal
	if _, err := s.Store(alcove.Entry{Key: "secret"}); !errors.As(err, &refused) || refused.Reason != "no secrets" {
		t.Errorf("a refusal: %v", err)
	}
	for _, key := range []string{"lost", "odd"} {
		if _, err := s.Store(alcove.Entry{Key: key}); err == nil || errors.As(err, &refused) {
			t.Errorf("%s is a failure, not a refusal: %v", key, err)
		}
	}
	if _, err := s.Store(alcove.Entry{Key: "tea"}); err != nil || s.Record("seen", "tea") == nil {
		t.Errorf("tea: %v", err)
	}
	for _, key := range []string{"secret", "lost", "odd"} {
		if s.Record("seen", key) != nil {
			t.Errorf("what was staged about %s is kept", key)
		}
	}
}
