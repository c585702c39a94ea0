package portable

import (
	"encoding/json"
	"strings"
	"testing"
)

// The lines are the contract with files that earlier builds exported.
func TestTheFormatIsFixed(t *testing.T) {
	var out strings.Builder
	w, err := NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Memory{Namespace: "n", Key: "k", Value: json.RawMessage(`"<&>"`), State: "archived", Vector: []float32{1}, VectorOf: "e", Version: 7}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"alcove":"memories","format":1}
{"namespace":"n","key":"k","value":"<&>","state":"archived","vector":[1],"vector_of":"e","version":7}
{"end":true,"memories":1}
`
	if out.String() != want {
		t.Errorf("it is %q", out.String())
	}
	lines := strings.Split(out.String(), "\n")
	if CheckHeader([]byte(lines[0])) != nil || CheckTrailer([]byte(lines[2]), 1) != nil || !strings.HasPrefix(lines[2], Trailer) {
		t.Error("what was written is not read")
	}
}

func TestOtherHeadersAndTrailersAreRefused(t *testing.T) {
	for _, line := range []string{``, `{}`, `{"alcove":"memories","format":2}`, `{"alcove":"bundle","format":1}`, `[]`} {
		if CheckHeader([]byte(line)) == nil {
			t.Errorf("%q is taken for a header", line)
		}
	}
	for _, line := range []string{`{"end":true,"memories":2}`, `{"end":`, `{"end":true}`} {
		if CheckTrailer([]byte(line), 1) == nil {
			t.Errorf("%q is taken for the trailer of one memory", line)
		}
	}
}
