package owner

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestHellosThatAreNotAccepted(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"no JSON", "GET / HTTP/1.1\n", "must be a hello"},
		{"another version", `{"alcove":2}` + "\n", "protocol 1, not 2"},
		{"no version", "{}\n", "protocol 1, not 0"},
		{"no end", `{"alcove":1}`, "EOF"},
		{"too long", `{"alcove":1,"agent":"` + strings.Repeat("a", HelloLimit) + "\"}\n", "longer than 65536 bytes"},
		{"endless", strings.Repeat("a", 10*HelloLimit), "longer than 65536 bytes"},
		{"a member twice", `{"alcove":1,"read_only":true,"read_only":false}` + "\n", `"read_only" twice`},
		{"a member twice, in another case", ` {"alcove":1,"read_only":true,"Read_only":false}` + "\n", `"read_only" twice`},
		{"a member twice, escaped", `{"alcove":1,"branch":"a","\u0062ranch":"b"}` + "\n", `"branch" twice`},
		{"wrong type", `{"alcove":1,"branch":3}` + "\n", "must be a hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, refusal := Listen(bufio.NewReader(strings.NewReader(c.line)))
			if refusal == nil || !strings.Contains(refusal.Message, c.want) {
				t.Errorf("got %v, want %q", refusal, c.want)
			}
		})
	}
}

func TestUnknownFieldsOfAHelloAreTolerated(t *testing.T) {
	h, refusal := Listen(bufio.NewReader(strings.NewReader(`{"alcove":1,"branch":"b","later":true}` + "\n")))
	if refusal != nil || h.Branch != "b" {
		t.Errorf("got %+v, %v", h, refusal)
	}
}

func TestAHelloThatIsTooLongIsNotSent(t *testing.T) {
	var sent bytes.Buffer
	_, err := handshake(&sent, bufio.NewReader(&sent), Hello{Agent: strings.Repeat("a", HelloLimit)})
	if err == nil || sent.Len() != 0 {
		t.Errorf("sent %d bytes, %v", sent.Len(), err)
	}
}

func TestAnOwnerOfAnotherVersionIsRefused(t *testing.T) {
	_, err := handshake(new(bytes.Buffer), bufio.NewReader(strings.NewReader(`{"alcove":9,"version":"v9"}`+"\n")), Hello{})
	if err == nil || !strings.Contains(err.Error(), "protocol 9") {
		t.Errorf("got %v", err)
	}
}

func FuzzListen(f *testing.F) {
	for _, seed := range []string{"{}\n", "{\"alcove\":1}\n", "{\"alcove\":1,\"read_only\":true}\nmore", "\n", "[", "\x00\xff\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, refusal := Listen(bufio.NewReader(bytes.NewReader(data)))
		if (refusal == nil) != (h.Alcove == Protocol) {
			t.Errorf("hello %+v, refusal %v", h, refusal)
		}
	})
}

func FuzzWelcome(f *testing.F) {
	for _, seed := range []string{"{\"alcove\":1,\"pid\":1}\n", "{\"error\":{\"code\":\"x\"}}\n", "{\"error\":null}\n", "7\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := handshake(new(bytes.Buffer), bufio.NewReader(bytes.NewReader(data)), Hello{})
		if (err == nil) != (w.Alcove == Protocol) {
			t.Errorf("welcome %+v, %v", w, err)
		}
	})
}

func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		`{"pid":7,"socket":"/tmp/s","http":"127.0.0.1:9742","version":"v1","started":"2026-01-01T00:00:00Z"}`, `{"pid":-1}`, `{"pid":1e99}`, `{"started":"x"}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(RecordPath(dir), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecord(dir)
		if err != nil {
			return
		}
		if r.PID < 0 {
			t.Fatalf("%q names the process %d", data, r.PID)
		}
		if WriteRecord(dir, r) != nil {
			return // a year that cannot be written
		}
		if back, err := ReadRecord(dir); err != nil || back.PID != r.PID || back.Socket != r.Socket || back.HTTP != r.HTTP {
			t.Errorf("%+v was read back as %+v (%v)", r, back, err)
		}
	})
}
