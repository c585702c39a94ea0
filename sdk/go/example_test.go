package alcove_test

import (
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

// family has one tool, which gives a memory in capital letters.
func family() *alcove.Family {
	f := alcove.New()
	alcove.Tool(f, "shout_memory", func(c *alcove.Call, in shoutIn) (shoutOut, error) {
		found, err := c.Get(alcove.Get{Keys: []string{in.Key}})
		if err != nil {
			return shoutOut{}, err
		}
		if found[0] == nil {
			return shoutOut{}, alcove.Errorf(alcove.NotFound, "there is no memory %q", in.Key)
		}
		return shoutOut{strings.ToUpper(string(found[0].Value))}, nil
	})
	return f
}

const manifest = `{"tools":[{"name":"shout_memory"}],"config":[{"key":"volume","default":5}]}`

func Example() {
	s := alcovetest.New(&testing.T{}, family(), []byte(manifest))
	s.Put(alcove.Memory{Key: "tea", Value: []byte(`"green"`)})
	var out shoutOut
	fmt.Println(s.Tool("shout_memory", shoutIn{"tea"}, &out), out.Text)
	fmt.Println(s.Tool("shout_memory", shoutIn{"cake"}, &out))
	// Output:
	// <nil> "GREEN"
	// not_found: there is no memory "cake"
}

func TestWhatAFailedRequestStagedIsThrownAway(t *testing.T) {
	f := alcove.New()
	alcove.Tool(f, "put", func(c *alcove.Call, in shoutIn) (shoutOut, error) {
		if _, err := c.Put(alcove.Item{Key: in.Key, Fields: alcove.Fields{Value: []byte(`1`)}}); err != nil {
			return shoutOut{}, err
		}
		if err := c.PutRecords("own", "", alcove.RecordItem{Key: "r", Value: 1}); err != nil {
			return shoutOut{}, err
		}
		if in.Key == "bad" {
			return shoutOut{}, alcove.Errorf(alcove.Denied, "no")
		}
		return shoutOut{}, nil
	})
	s := alcovetest.New(t, f, []byte(`{"tools":[{"name":"put"}]}`))
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
