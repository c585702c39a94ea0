package request

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
)

// FuzzMembersOf compares the quick way to split an object with a decoder's.
func FuzzMembersOf(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[2,{"c":3}]}`, ` {"\u0061":"x","a":1} `, `{}`, `{"a":1}{`, `{"a":1,}`, "{\"\xff\":1}", `{"\ud800":1,"\udc00":2}`, `[]`, `{"":0}`, "\n{\"a\" : \"}\" }\t"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := membersOf(raw)
		want, wantErr := membersByToken(raw)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q: %v, not %v", raw, err, wantErr)
		}
		if err == nil && !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Fatalf("%q: %q, not %q", raw, got, want)
		}
	})
}
