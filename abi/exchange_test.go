package abi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
)

// model is the host's side of an exchange, written down once more in the plainest way, from SPEC.md.
type model struct {
	limits   abi.Limits
	memory   []byte
	serving  bool
	request  []byte
	response []byte
	result   []byte
	log      []string
	calls    int64
}

func newModel(v vectors.Exchange) *model {
	m := &model{limits: abi.DefaultLimits(), memory: make([]byte, 65536), serving: v.During == ""}
	m.limits.Each(func(name string, value *int64) {
		if limit, ok := v.Limits[name]; ok {
			*value = limit
		}
	})
	if m.serving {
		m.request = v.Request
	}
	return m
}

// inside is the buffer at ptr; nil when it is not wholly inside of memory.
func (m *model) inside(ptr, length uint32) ([]byte, bool) {
	end := uint64(ptr) + uint64(length)
	if end > uint64(len(m.memory)) {
		return nil, false
	}
	return m.memory[ptr:end], true
}

func (m *model) read(channel, ptr, capacity uint32) int64 {
	waits := map[uint32]*[]byte{abi.ReadRequest: &m.request, abi.ReadResponse: &m.response, abi.ReadSource: new([]byte)}[channel]
	if waits == nil {
		return int64(abi.FaultChannel)
	}
	if channel == abi.ReadRequest && !m.serving {
		return int64(abi.FaultClosed)
	}
	buffer, ok := m.inside(ptr, capacity)
	if !ok {
		return int64(abi.FaultRange)
	}
	n := copy(buffer, *waits)
	*waits = (*waits)[n:]
	return int64(n)
}

func (m *model) write(channel, ptr, length uint32) (int64, abi.Class) {
	if channel != abi.WriteResult && channel != abi.WriteLog {
		return int64(abi.FaultChannel), ""
	}
	if channel == abi.WriteResult && !m.serving {
		return int64(abi.FaultClosed), ""
	}
	data, ok := m.inside(ptr, length)
	if !ok {
		return int64(abi.FaultRange), ""
	}
	if channel == abi.WriteLog {
		if int64(len(m.log)) < m.limits.LogLines {
			m.log = append(m.log, string(data[:min(int64(len(data)), m.limits.LogLineBytes)]))
		}
		return 0, ""
	}
	if int64(len(m.result)+len(data)) > m.limits.OutputBytes {
		return 0, abi.ClassOutput
	}
	m.result = append(m.result, data...)
	return 0, ""
}

// call answers a length, or the code of an error that the host makes by itself.
func (m *model) call(s vectors.Step) (int64, abi.Code, abi.Class) {
	if m.calls++; m.calls > m.limits.HostCalls {
		return 0, "", abi.ClassHostCalls
	}
	op, inside := m.inside(s.OpPtr, s.OpLength())
	_, whole := m.inside(s.Ptr, s.Length())
	switch {
	case !inside || !whole:
		return -1, abi.CodeInvalidArgument, ""
	case !m.serving:
		return -1, abi.CodeDenied, ""
	case int64(len(op)) > m.limits.OpBytes || int64(s.Length()) > m.limits.CallBytes || s.HostLong != nil && int64(len(*s.HostLong)) > m.limits.CallBytes:
		return -1, abi.CodeExhausted, ""
	case s.HostError != nil:
		m.response = *s.HostError
		return -int64(len(m.response)), "", ""
	case s.Host != nil:
		m.response = *s.Host
		return int64(len(m.response)), "", ""
	}
	return -1, abi.CodeNotFound, ""
}

// do does a step and says how it went; stopped is the class of a limit that was reached.
func (m *model) do(t *testing.T, s vectors.Step) (stopped abi.Class) {
	t.Helper()
	var returned int64
	switch s.Do {
	case "read":
		if returned = m.read(s.Channel, s.Ptr, s.Cap); returned > 0 && string(m.memory[s.Ptr:][:returned]) != string(s.Hex) {
			t.Errorf("read %q, want %q", m.memory[s.Ptr:][:returned], s.Hex)
		}
	case "write":
		m.place(s.Ptr, s.Hex)
		returned, stopped = m.write(s.Channel, s.Ptr, s.Length())
	case "call":
		m.place(s.OpPtr, []byte(s.Op))
		m.place(s.Ptr, s.Hex)
		var code abi.Code
		if returned, code, stopped = m.call(s); code != s.Code {
			t.Errorf("call %q: the code is %q, want %q", s.Op, code, s.Code)
		}
		if s.Code != "" {
			return stopped
		}
	case "grow":
		returned = int64(len(m.memory) / 65536)
		m.memory = append(m.memory, make([]byte, int(s.Pages)*65536)...)
	default:
		t.Fatalf("there is no step %q", s.Do)
	}
	if stopped == "" && returned != s.Returns {
		t.Errorf("%s returned %d, want %d", s.Do, returned, s.Returns)
	}
	return stopped
}

func (m *model) place(ptr uint32, data []byte) {
	if len(data) > 0 {
		copy(m.memory[ptr:], data)
	}
}

// end is the class of a request that alcove_handle answered.
func (m *model) end(kind abi.Kind, request []byte, status abi.Status) abi.Class {
	switch status {
	case abi.StatusOK:
		if abi.CheckResult(kind, request, m.result) == nil {
			return abi.ClassOK
		}
	case abi.StatusError:
		if _, err := abi.ParseError(m.result); err == nil {
			return abi.ClassError
		}
	}
	return abi.ClassAnswer
}

// run is the class of the whole exchange.
func (m *model) run(t *testing.T, v vectors.Exchange) abi.Class {
	t.Helper()
	if int64(len(v.Request)) > m.limits.RequestBytes {
		return abi.ClassRequest
	}
	for _, s := range v.Steps {
		stopped := m.do(t, s)
		if stopped != s.Stops {
			t.Errorf("%s was stopped by %q, want %q", s.Do, stopped, s.Stops)
		}
		if stopped != "" {
			return stopped
		}
	}
	if v.During != "" {
		m.result = v.After
	}
	return m.end(v.Kind.Kind(), v.Request, v.Status)
}

func TestExchangesGoAsTheVectorsSay(t *testing.T) {
	for _, v := range cases[vectors.Exchange](t, "exchange.json") {
		t.Run(v.Name, func(t *testing.T) {
			m := newModel(v)
			if class := m.run(t, v); class != v.Class {
				t.Errorf("the class is %s, want %s", class, v.Class)
			}
			if v.Class.Outcome() == abi.OutcomeOK && string(m.result) != string(v.Result) {
				t.Errorf("the result is %q, want %q", m.result, v.Result)
			}
			if strings.Join(m.log, "\n") != strings.Join(v.Log, "\n") {
				t.Errorf("the log is %q, want %q", m.log, v.Log)
			}
		})
	}
}

func TestRequestsOfTheVectorsAreReadAsTheirKindSays(t *testing.T) {
	for _, v := range cases[vectors.Exchange](t, "exchange.json") {
		if !strings.Contains(string(v.Request), `"context"`) {
			continue // a request for the sake of its bytes
		}
		var into any = &abi.ToolRequest{}
		if v.Kind == "hook" {
			into = &abi.HookRequest{}
		}
		decoder := json.NewDecoder(strings.NewReader(string(v.Request)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			t.Errorf("%s: decode its request: %v", v.Name, err)
		}
	}
}
