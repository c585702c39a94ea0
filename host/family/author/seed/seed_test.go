package seed

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestASeedHasMemoriesRecordsAndSettings(t *testing.T) {
	var s Seed
	for _, line := range []string{`{"key":"a","value":1,"tags":["t"]}`, `{"collection":"c","key":"b","value":null}`, `{"setting":"w","value":3}`, `{"namespace":"n","key":"c","value":"x"}`} {
		if !Is(json.RawMessage(line)) && !strings.Contains(line, "null") {
			t.Errorf("Is(%s) = false, want true", line)
		}
		if err := s.Add(json.RawMessage(line)); err != nil {
			t.Errorf("Add(%s): got the error %v, want none", line, err)
		}
	}
	if len(s.Memories) != 2 || s.Memories[1].Namespace != "n" || len(s.Records) != 1 || s.Records[0].Key != "b" || string(s.Settings["w"]) != "3" {
		t.Errorf("got %+v, want 2 memories, a record and a setting", s)
	}
}

func TestWhatIsNoEntryIsRefused(t *testing.T) {
	for line, want := range map[string]string{
		`{"key":"a"}`: "no value", `{"value":1}`: "no key", `{"collection":"c","value":1}`: "no key", `[]`: "cannot unmarshal", `{"setting":"w","value":1,"key":"a"}`: `unknown field "key"`,
		`{"collection":7,"key":"a","value":1}`: "cannot unmarshal",
	} {
		var s Seed
		if err := s.Add(json.RawMessage(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Add(%s): got the error %v, want %q", line, err, want)
		}
	}
}
