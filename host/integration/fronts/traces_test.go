package fronts_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// receiver is a collector of OpenTelemetry.
type receiver struct {
	t     *testing.T
	mu    sync.Mutex
	spans []*otlp.Span
	raw   bytes.Buffer // all that was sent
	names []string     // of the services
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Errorf("unpack a batch: %v", err)
			return
		}
		body = unpacked
	}
	data, err := io.ReadAll(body)
	var batch collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(data, &batch)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("a batch at %s of type %s cannot be read: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(data)
	for _, of := range batch.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			if a.Key == "service.name" {
				c.names = append(c.names, a.Value.GetStringValue())
			}
		}
		for _, scope := range of.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// named returns the only span of a name.
func (c *receiver) named(name string) *otlp.Span {
	c.t.Helper()
	var found []*otlp.Span
	var names []string
	for _, s := range c.spans {
		if names = append(names, s.Name); s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("got %d spans %q, want one among %q", len(found), name, names)
	}
	return found[0]
}

func attribute(s *otlp.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

const (
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan  = "00f067aa0ba902b7"
)

// traced calls a tool with the client's trace.
func traced(s *server.Server, tool, arguments, flags string) string {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"traceparent":"00-` + clientTrace + `-` + clientSpan + `-` + flags + `",
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	answer := s.Do("POST", s.Token(), body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.T.Fatalf("read the answer of %s: %v", tool, err)
	}
	return string(text)
}

func TestSpansOfACallReachACollector(t *testing.T) {
	c := &receiver{t: t}
	api := httptest.NewServer(c)
	defer api.Close()
	s := server.Start(t, host.Options{Traces: api.URL})
	s.Asking(abi.CanMemoryRead, map[string]string{"asker": `memory.get {"key":"SECRETKEY"}`})
	traced(s, "memory_store", `{"key":"SECRETKEY","value":"SECRETVALUE","namespace":"SECRETPLACE"}`, "01")
	traced(s, "asker_ask", `{}`, "01")
	traced(s, "memory_history", `{"key":"SECRETKEY","limit":"SECRETVALUE"}`, "01")
	traced(s, "SECRETTOOL", `{}`, "01")
	traced(s, "memory_status", `{}`, "00") // its client does not record
	s.Stop()

	for _, each := range c.spans {
		if got := hex.EncodeToString(each.TraceId); got != clientTrace {
			t.Errorf("%s is in the trace %s, want the client's", each.Name, got)
		}
		if each.Name == "tools/call memory_status" {
			t.Errorf("got the span %s of a trace that its client does not record", each.Name)
		}
	}
	store := c.named("tools/call memory_store")
	if got := hex.EncodeToString(store.ParentSpanId); got != clientSpan || store.Kind != otlp.Span_SPAN_KIND_SERVER || attribute(store, "gen_ai.tool.name") != "memory_store" {
		t.Errorf("the span of a call has the parent %s and is %v, want the client's span as parent", got, store)
	}
	call, guest, op := c.named("tools/call asker_ask"), c.named("guest asker"), c.named("host memory.get")
	if !bytes.Equal(guest.ParentSpanId, call.SpanId) || !bytes.Equal(op.ParentSpanId, guest.SpanId) {
		t.Errorf("got the guest %x in %x, the operation in %x; want call %x, guest in it, operation in the guest", guest.SpanId, guest.ParentSpanId, op.ParentSpanId, call.SpanId)
	}
	if attribute(guest, "alcove.family") != "asker" || attribute(op, "alcove.operation") != "memory.get" {
		t.Errorf("got the attributes %v and %v, want the family and the operation", guest.Attributes, op.Attributes)
	}
	if failed := c.named("tools/call memory_history"); failed.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || attribute(failed, "error.type") != "invalid_argument" {
		t.Errorf("a refused call is %v, want the code of its error", failed)
	}
	if strings.Contains(c.raw.String(), "SECRET") {
		t.Errorf("the collector was sent values of calls: %q", c.raw.String())
	}
	if len(c.names) == 0 || c.names[0] != "alcove" {
		t.Errorf("the service is %q, want alcove", c.names)
	}
}

func TestACollectorThatIsAwayKeepsNoCall(t *testing.T) {
	s := server.Start(t, host.Options{Traces: "http://127.0.0.1:1"})
	if got := traced(s, "memory_store", `{"key":"k","value":1}`, "01"); !strings.Contains(got, `\"key\":\"k\"`) {
		t.Errorf("got %s, want the receipt", got)
	}
	for _, wrong := range []string{"127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://user:word@x", "http://x?a=b", "http://"} {
		h, err := host.Open(t.Context(), host.Options{Dir: t.TempDir(), Traces: wrong})
		if err == nil || !strings.Contains(err.Error(), "cannot be a collector of OpenTelemetry") {
			t.Errorf("%s: got %v, want a refusal", wrong, err)
		}
		if h != nil {
			h.Close()
		}
	}
}
