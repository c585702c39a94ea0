package alcove

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// visit is a record with a codec as alcove family gen writes it.
type visit struct {
	Page string
	Lifecycle
}

func (v *visit) EncodeJSON(w *scan.Writer) {
	w.Open()
	w.Key("page")
	w.Text(v.Page)
	w.Key("state")
	w.Text(v.State)
	w.Close()
}

func (v *visit) DecodeJSON(s *scan.Scanner) {
	for key := range s.Fields() {
		switch key {
		case "page":
			v.Page = s.String()
		case "state":
			v.State = s.String()
		default:
			s.Skip()
		}
	}
}

var visits = Records[visit]{Name: "visits"}

// walk is a job that sweeps.
type walk struct {
	Prefix string
	Sweep
}

func (j *walk) AlcovePart() Handlers { return Handlers{Job: "walk"} }

func (j *walk) EncodeJSON(w *scan.Writer) {
	w.Open()
	w.Key("prefix")
	w.Text(j.Prefix)
	w.Key("after")
	w.Text(j.After)
	w.Key("done")
	w.Int(int64(j.Done))
	w.Close()
}

func TestGoValuesBecomeRequests(t *testing.T) {
	for _, c := range []struct {
		answer, want string
		run          func(c *Call) error
	}{
		{`{"stored":2}`, `record.put{"collection":"visits","items":[{"key":"a","value":{"page":"x","state":""}},{"key":"b","value":{"page":"","state":""}}]}`, func(c *Call) error {
			return visits.PutAll(c, func(yield func(string, visit) bool) {
				if yield("a", visit{Page: "x"}) {
					yield("b", visit{})
				}
			})
		}},
		{`{"sequences":[7,8]}`, `record.append{"collection":"visits","namespace":"n","values":[{"page":"x","state":""},{"page":"y","state":""}]}`, func(c *Call) error {
			sequences, err := visits.In("n").Append(c, visit{Page: "x"}, visit{Page: "y"})
			if !slices.Equal(sequences, []uint64{7, 8}) {
				return fmt.Errorf("the sequence numbers are %v", sequences)
			}
			return err
		}},
		{`{"records":[{"key":"a","value":{"page":"x"},"version":3}]}`, `record.get{"collection":"visits","keys":["a"]}`, func(c *Call) error {
			v, ok, err := visits.Get(c, "a")
			if !ok || v.Page != "x" {
				return fmt.Errorf("the record is %+v", v)
			}
			return err
		}},
		{`{"hits":[{"record":{"namespace":"n","key":"a","value":{"page":"x"}}}]}`, `record.search{"collection":"visits","query":"q","namespaces":["n"],"k":3}`, func(c *Call) error {
			found, err := visits.In("n").Search(c, "q", 3)
			if len(found) != 1 || found[0].Value.Page != "x" || found[0].ID.String() != "n#a" {
				return fmt.Errorf("it finds %+v", found)
			}
			return err
		}},
		{`{"hits":[{"record":{"namespace":"n","key":"a","value":{"page":"x"}}}]}`, `record.search{"collection":"visits","query":"q","k":3,"mode":"semantic"}`, func(c *Call) error {
			found, err := visits.Nearest(c, "q", 3)
			if len(found) != 1 || found[0].Value.Page != "x" {
				return fmt.Errorf("it finds %+v", found)
			}
			return err
		}},
		{`{"deleted":1}`, `record.delete{"collection":"visits","keys":["a"]}`, func(c *Call) error {
			_, err := visits.Delete(c, "a")
			return err
		}},
		{`{"config":{}}`, `config.set{"values":{"a":0.5,"b":null}}`, func(c *Call) error {
			return c.SetConfig(map[string]any{"a": .5, "b": nil})
		}},
		{`{}`, `caller.progress{"done":3,"message":"reading"}`, func(c *Call) error { return c.Progress(3, 0, "reading") }},
		{`{"id":"7"}`, `job.enqueue{"job":"walk","payload":{"prefix":"k","after":"","done":0},"after_s":1.5}`, func(c *Call) error {
			id, err := c.Enqueue(&walk{Prefix: "k"}, 1500*Millisecond)
			if id != "7" {
				return fmt.Errorf("the id is %s", id)
			}
			return err
		}},
		{`{"result":{"page":"x"}}`, `tools.call{"tool":"count","arguments":{"a":1}}`, func(c *Call) error {
			var out visit
			if err := c.CallTool("count", map[string]any{"a": 1}, &out); err != nil || out.Page != "x" {
				return fmt.Errorf("the result is %v (%w)", out, err)
			}
			return nil
		}},
		{`{"result":[]}`, `tools.call{"tool":"count"}`, func(c *Call) error { return c.CallTool("count", nil, nil) }},
		{`{"later":true}`, `memory.later{"a":1}`, func(c *Call) error {
			out, err := c.Do("memory.later", Raw(`{"a":1}`))
			if string(out) != `{"later":true}` {
				return fmt.Errorf("the response is %s", out)
			}
			return err
		}},
		{`{"stored":[{"namespace":"n","key":"k"}]}`, `memory.put{"items":[{"value":"green","tags":["a"],"type":"note","importance":0.5,"metadata":{"by":"ann"},"supersedes":["old","m#x"],"expires_at":"in 2h"}]}`, func(c *Call) error {
			id, err := c.Store("green").Type("note").Tags("a").Importance(.5).Supersedes(c.ID("old"), ID{}, ID{"m", "x"}).Expires("in 2h").Metadata("by", "ann").Put()
			if id.String() != "n#k" {
				return fmt.Errorf("the id is %s", id)
			}
			return err
		}},
		{`{"patched":1}`, `memory.patch{"patches":[{"key":"k","tags":["b"],"type":"plan","metadata":{"by":null},"clear":["importance"]}]}`, func(c *Call) error {
			return c.Edit(ID{Key: "k"}).Type(Some("plan")).Importance(Clear[float64]()).Tags(Some([]string{"b"})).Expires(Optional[string]{}).Metadata("by", nil).Apply()
		}},
	} {
		host := &echo{answer: []byte(c.answer)}
		call := &Call{host: host}
		call.Namespace = "here"
		if err := c.run(call); err != nil || string(host.op)+string(host.request) != c.want {
			t.Errorf("asked %s%s, want %s (%v)", host.op, host.request, c.want, err)
		}
	}
}

func TestAValueThatIsNoJSONIsAnError(t *testing.T) {
	c := &Call{host: &echo{}}
	for says, err := range map[string]error{
		"set the configuration: a":    c.SetConfig(map[string]any{"a": math.Inf(1)}),
		"call count":                  c.CallTool("count", make(chan int), nil),
		"read the result of count":    (&Call{host: &echo{answer: []byte(`{"result":"many"}`)}}).CallTool("count", nil, &visit{}),
		"write the request of x.y":    errorOf(c.Do("x.y", Raw(`1,2`))),
		"read the response of job.st": errorOf((&Call{host: &echo{answer: []byte(`{`)}}).JobStatus(JobStatusRequest{})),
		"write the memory":            errorOf(c.StoreValue(make(chan int)).Put()),
		"write the change":            c.Edit(ID{Key: "k"}).Metadata("a", struct{}{}).Apply(),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %s", err, says)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a channel became JSON")
		}
	}()
	JSON(make(chan int))
}

func errorOf(_ any, err error) error { return err }

// counting is a host that checks requests as the real one does, and counts what they are made of.
type counting struct{ puts, appends, patches []int }

func (c *counting) Log(string) {}

func (c *counting) Call(op Op, request []byte) ([]byte, error) {
	switch abi.Op(op) {
	case abi.OpRecordPut:
		var r abi.RecordPutRequest
		err := abi.DecodeRequest(request, &r)
		c.puts = append(c.puts, len(r.Items))
		return []byte(`{}`), err
	case abi.OpRecordAppend:
		var r abi.RecordAppendRequest
		err := abi.DecodeRequest(request, &r)
		c.appends = append(c.appends, len(r.Values))
		return []byte(`{"sequences":[1]}`), err
	case abi.OpMemoryPatch:
		var r abi.MemoryPatchRequest
		err := abi.DecodeRequest(request, &r)
		c.patches = append(c.patches, len(r.Patches))
		return []byte(`{"patched":1,"missing":["x"]}`), err
	}
	return nil, Errorf(Internal, "another operation")
}

func TestWhatIsStagedGoesInPartsThatTheHostTakes(t *testing.T) {
	host := &counting{}
	c, values, list := &Call{host: host}, map[string]visit{}, []visit{}
	for i := range 2*mostItems + 1 {
		values[fmt.Sprint(i)], list = visit{}, append(list, visit{})
	}
	if err := visits.PutAll(c, maps.All(values)); err != nil || !slices.Equal(host.puts, []int{mostItems, mostItems, 1}) {
		t.Errorf("put %v (%v)", host.puts, err)
	}
	if sequences, err := visits.Append(c, list...); err != nil || !slices.Equal(host.appends, []int{mostItems, mostItems, 1}) || len(sequences) != 3 {
		t.Errorf("appended %v: %v (%v)", host.appends, sequences, err)
	}
	if err := visits.PutAll(c, maps.All(map[string]visit{})); err != nil || len(host.puts) != 3 {
		t.Errorf("nothing was put %v (%v)", host.puts, err)
	}
	large := Raw(`"` + strings.Repeat("x", mostBytes/2) + `"`)
	out, err := c.PatchMemories([]MemoryPatch{{Key: "a", Value: large}, {Key: "b", Value: large}, {Key: "c"}})
	if err != nil || !slices.Equal(host.patches, []int{1, 2}) || out.Patched != 2 || len(out.Missing) != 2 {
		t.Errorf("patched %v: %+v (%v)", host.patches, out, err)
	}
	more := abi.RecordPutRequest{Items: make([]abi.RecordItem, mostItems+1)}
	if more.Check() == nil {
		t.Errorf("the host takes more than %d at a time", mostItems)
	}
}

func TestASweepGoesOnInAnotherJob(t *testing.T) {
	host := &pageOnce{}
	c := &Call{host: host}
	job := &walk{Prefix: "k"}
	out, err := SweepMemories(c, job, MemoryListRequest{Prefix: "k", Limit: 2}, func(page []Memory) (int, error) { return len(page) - 1, nil })
	if err != nil || out != (Swept{Done: 2, Changed: 1, Next: "next"}) {
		t.Errorf("SweepMemories = %+v (%v), want 2 done, 1 changed, and a next page", out, err)
	}
	if host.queued != `{"job":"walk","payload":{"prefix":"k","after":"b","done":2}}` {
		t.Errorf("it queues %s", host.queued)
	}
	if _, err := SweepMemories(c, &stroll{walk{Prefix: "k"}}, MemoryListRequest{}, func([]Memory) (int, error) { return 0, nil }); err != nil || !slices.Equal(host.progress, []string{"walk", "strolling"}) {
		t.Errorf("the progress is %q (%v)", host.progress, err)
	}
}

// stroll is a walk that says what it is doing.
type stroll struct{ walk }

func (*stroll) Doing() string { return "strolling" }

// pageOnce is a host that lists one page of two, and keeps what is queued and what is said of the progress.
type pageOnce struct {
	queued   string
	progress []string
}

func (p *pageOnce) Log(string) {}

func (p *pageOnce) Call(op Op, request []byte) ([]byte, error) {
	switch op {
	case OpMemoryList:
		return []byte(`{"memories":[{"key":"a"},{"key":"b"}],"next":"b"}`), nil
	case OpCallerProgress:
		var r abi.CallerProgressRequest
		err := abi.DecodeRequest(request, &r)
		p.progress = append(p.progress, r.Message)
		return []byte(`{}`), err
	case OpJobEnqueue:
		p.queued = string(request)
		return []byte(`{"id":"next"}`), nil
	}
	return []byte(`{}`), nil
}

func TestACallKnowsWhatItCan(t *testing.T) {
	c := &Call{host: &echo{answer: []byte(`{"capabilities":[{"name":"memory.read","scope":["*"]}]}`)}}
	rights, err := c.CallerGet()
	if err != nil || !rights.Can("memory.read") || rights.Can("memory.write") {
		t.Errorf("CallerGet() = %+v (%v), want the right to read and none to write", rights, err)
	}
}

func TestAnIDHasANamespaceOrNone(t *testing.T) {
	for text, want := range map[string]ID{
		"tea":        {"", "tea"},
		"work#tea":   {"work", "tea"},
		"a/b.c#d#e":  {"a/b.c", "d#e"},
		"#tea":       {"", "#tea"},
		"work#":      {"", "work#"},
		"no space#k": {"", "no space#k"},
		"":           {},
	} {
		if id := ParseID(text); id != want || id.String() != text {
			t.Errorf("%q is read as %+v, which is %q", text, id, id)
		}
	}
}

func TestInstantsAreThoseOfPackageTime(t *testing.T) {
	for _, text := range []string{"2026-06-01T12:00:00Z", "1969-12-31T23:59:59.999999Z", "2024-02-29T00:00:00+02:00", "1900-03-01T00:00:00Z", "9999-12-31T23:59:59Z", "2000-01-01T00:00:00.5-11:30", "2026-06-01T12:00:00.123456789Z"} {
		want, err := time.Parse(time.RFC3339Nano, text)
		got, bad := ParseTime(text)
		if err != nil || bad != nil || int64(got) != want.UnixMicro() {
			t.Errorf("%s is %d (%v), want %d (%v)", text, got, bad, want.UnixMicro(), err)
		}
		again, err := time.Parse(time.RFC3339Nano, got.String())
		if err != nil || again.UnixMicro() != want.UnixMicro() {
			t.Errorf("%s is written as %s (%v)", text, got, err)
		}
	}
	for _, text := range []string{"", "2026-06-01", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-06-01T24:00:00Z", "2026-06-01T12:00:00", "2026-06-01T12:00:00+2:00", "2026-06-01T12:00:0xZ", "2026-06-01T12:00:00+25:00"} {
		if at, err := ParseTime(text); err == nil {
			t.Errorf("%q is %s", text, at)
		}
	}
}

func TestErrorsAreFormattedAsPackageFmtDoes(t *testing.T) {
	for _, c := range []struct {
		format    string
		arguments []any
	}{
		{"plain 100%", nil},
		{"%s, %q and %v", []any{"a", "b\n", "c"}},
		{"%d of %d, %x", []any{7, int64(-8), uint32(255)}},
		{"%v %v %v", []any{true, 1.5, nil}},
		{"%.2f %g", []any{1.005, float32(.1)}},
		{"%s: %v", []any{NotFound, Errorf(Denied, "no")}},
		{"%v %q 50%%", []any{[]string{"a", "b"}, []string{"a", "b"}}},
		{"%s", []any{ID{"n", "k"}}},
	} {
		want := c.format
		if len(c.arguments) > 0 {
			want = fmt.Sprintf(c.format, c.arguments...)
		}
		if got := sprintf(c.format, c.arguments); got != want {
			t.Errorf("%q: %q, want %q", c.format, got, want)
		}
	}
	if got := sprintf("%s %d", []any{struct{}{}}); got != "%s %d" {
		t.Errorf("what it cannot write is %q", got)
	}
}
