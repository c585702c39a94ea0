package trace

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
)

const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestOnlyTraceContextsAreRead(t *testing.T) {
	if p, ok := Parse(valid); !ok || p.String() != valid || p.Trace() != "4bf92f3577b34da6a3ce929d0e0e4736" || p.Span() != "00f067aa0ba902b7" {
		t.Errorf("%s is read as %+v, %t", valid, p, ok)
	}
	for _, wrong := range []string{
		"", "00", valid + "-x", strings.ToUpper(valid), "01" + valid[2:], "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", valid + "\r\nX: y", strings.Repeat(valid, 1000),
	} {
		if p, ok := Parse(wrong); ok {
			t.Errorf("%.80q is read as %+v", wrong, p)
		}
	}
}

func TestTheCallerSaysWhetherItRecordsTheTrace(t *testing.T) {
	for flags, want := range map[string]bool{"01": true, "03": true, "ff": true, "00": false, "02": false, "10": false, "fe": false} {
		p, ok := Parse(valid[:len(valid)-2] + flags)
		if got := p.Sampled(); !ok || got != want {
			t.Errorf("flags %s: got %t (read %t), want %t", flags, got, ok, want)
		}
	}
	if (Parent{}).Sampled() {
		t.Error("no trace is recorded, want none")
	}
}

func TestLogsTellTheTrace(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(Logging(slog.NewTextHandler(&out, nil))).With("a", 1)
	p, _ := Parse(valid)
	log.InfoContext(With(context.Background(), p), "traced")
	log.InfoContext(With(context.Background(), Parent{}), "plain")
	traced, plain, _ := strings.Cut(out.String(), "\n")
	if !strings.Contains(traced, "a=1 trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7") || strings.Contains(plain, "trace_id") {
		t.Errorf("the log is %s", &out)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(valid)
	f.Fuzz(func(t *testing.T, text string) {
		if p, ok := Parse(text); ok && (p.String() != text || len(p.Trace()) != 32 || len(text) != len(valid)) {
			t.Errorf("%q is read as %+v", text, p)
		}
	})
}
