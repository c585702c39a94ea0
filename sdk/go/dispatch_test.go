package alcove

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
)

// named is a family of every kind of request, which tells its name.
func namedFamily(name string) *Family {
	f := New().Named(name)
	handleTool(f, "say", func(*Call, struct{}) (string, error) { return name, nil })
	handleJob(f, "work", func(*Call, struct{}) (string, error) { return name, nil })
	f.OnStore(func(*Call, []Entry) ([]*Change, error) { return nil, Refuse(name) })
	f.OnStored(func(*Call, []Entry) error { return Errorf(Conflict, "%s", name) })
	f.OnEmbed(func(*Texts) ([][]float32, error) { return [][]float32{{float32(name[0])}}, nil })
	f.OnRank(func(r *Ranking) error { r.Scores[0] = float32(name[0]); return nil })
	return f
}

type nobody struct{}

func (nobody) Call(Op, []byte) ([]byte, error) { return nil, Errorf(Denied, "nothing is granted") }
func (nobody) Log(string)                      {}

// scoring is a score request of one candidate and one feature.
func scoring(params string) []byte {
	data := binary.LittleEndian.AppendUint32(nil, 1)
	data = binary.LittleEndian.AppendUint32(data, 1)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(params)))
	data = append(data, params...)
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	return append(data, 0, 0, 0, 0)
}

func TestEachRequestGoesToTheFamilyThatItNames(t *testing.T) {
	all := together([]*Family{namedFamily("ann"), namedFamily("bob")})
	for _, name := range []string{"ann", "bob", "", "eve"} {
		context := `"config":{},"context":{"family":"` + name + `"}}`
		for what, c := range map[string]struct {
			kind    Kind
			request []byte
			want    string
		}{
			"tool":   {KindTool, []byte(`{"tool":"say","arguments":{},` + context), `"` + name + `"`},
			"store":  {KindHook, []byte(`{"hook":"store","entries":[],` + context), `{"refuse":"` + name + `"}`},
			"stored": {KindHook, []byte(`{"hook":"stored","entries":[],` + context), name},
			"job":    {KindHook, []byte(`{"hook":"job","job":"work",` + context), `"` + name + `"`},
			"score":  {KindScore, scoring(`{"query":"q","now":"",` + context), string(appendFloats(nil, []float32{float32((name + "\x00")[0])}))},
			"embed":  {KindEmbed, []byte(`{"texts":["x"],"purpose":"query",` + context), string(appendVectors(nil, [][]float32{{float32((name + "\x00")[0])}}))},
		} {
			answer, err := all.Handle(nobody{}, c.kind, c.request)
			if name == "" || name == "eve" {
				if CodeOf(err) != NotFound || !strings.Contains(err.Error(), `no family "`+name+`"`) {
					t.Errorf("%s for %q: %s, %v", what, name, answer, err)
				}
				continue
			}
			if what == "stored" && err != nil {
				answer, err = []byte(err.(*Error).Message), nil
			}
			if err != nil || string(answer) != c.want {
				t.Errorf("%s for %s: %q, %v, want %q", what, name, answer, err, c.want)
			}
		}
	}
}

func TestAFamilyThatIsAloneServesAll(t *testing.T) {
	alone := together([]*Family{namedFamily("ann")})
	for _, name := range []string{"ann", "bob", ""} {
		answer, err := alone.Handle(nobody{}, KindTool, []byte(`{"tool":"say","arguments":{},"config":{},"context":{"family":"`+name+`"}}`))
		var said string
		if err != nil || json.Unmarshal(answer, &said) != nil || said != "ann" {
			t.Errorf("say of %q = %s, %v, want ann", name, answer, err)
		}
	}
}

func TestFamiliesWithoutNamesOfTheirOwnAreNotServedTogether(t *testing.T) {
	for name, families := range map[string][]*Family{
		"the same": {namedFamily("ann"), namedFamily("ann")}, "none": {namedFamily("ann"), New()},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: they are served", name)
				}
			}()
			together(families)
		}()
	}
	if together(nil) != nil {
		t.Error("none are one")
	}
}
