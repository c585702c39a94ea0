package alcove

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

// narrow is a host that sends at most some records at once.
type narrow struct {
	most, records int
	limits        []int
}

func (n *narrow) Log(string) {}

func (n *narrow) Call(_ Op, request []byte) ([]byte, error) {
	var r abi.RecordListRequest
	if err := abi.DecodeRequest(request, &r); err != nil {
		return nil, err
	}
	n.limits = append(n.limits, r.Limit)
	if r.Limit == 0 {
		r.Limit = 100
	}
	if r.Limit > n.most {
		return nil, &Error{Code: Exhausted, Details: map[string]any{"limit": "call_bytes"}}
	}
	from := 0
	fmt.Sscan(r.After, &from)
	var list []string
	for i := from; i < min(from+r.Limit, n.records); i++ {
		list = append(list, fmt.Sprintf(`{"key":"%d","value":1}`, i))
	}
	next := ""
	if from+r.Limit < n.records {
		next = fmt.Sprintf(`,"next":"%d"`, from+r.Limit)
	}
	return []byte(`{"records":[` + strings.Join(list, ",") + `]` + next + `}`), nil
}

func TestAPageThatIsTooLargeIsAskedForInSmallerParts(t *testing.T) {
	for _, c := range []struct {
		most, limit int
		want        string
	}{{1000, 1000, "[1000]"}, {300, 1000, "[1000 500 250]"}, {30, 0, "[0 50 25 25 25 25 25 25 25 25]"}} {
		host := &narrow{most: c.most, records: 200}
		read := 0
		for r, err := range (&Call{host: host}).Records(RecordListRequest{Collection: "c", Limit: c.limit}) {
			if err != nil || r.Key != fmt.Sprint(read) {
				t.Fatalf("record %d is %v (%v)", read, r, err)
			}
			read++
		}
		if read != host.records || fmt.Sprint(host.limits) != c.want {
			t.Errorf("%d records were read with the limits %v, want %s", read, host.limits, c.want)
		}
	}
	for _, err := range (&Call{host: &narrow{records: 1}}).Records(RecordListRequest{Collection: "c"}) {
		if CodeOf(err) != Exhausted {
			t.Errorf("a record that is too large alone: %v", err)
		}
	}
}
