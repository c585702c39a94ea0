package sandbox

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/testing/must"
)

const guests = "testdata/guests"

// guest is one of the sample guests. That in Go is built first.
func guest(t testing.TB, language string) []byte {
	t.Helper()
	path := filepath.Join(guests, language+".wasm")
	if language == "go" {
		path = filepath.Join(t.TempDir(), "go.wasm")
		build := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, "./"+guests+"/go")
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build the guest: %v\n%s", err, out)
		}
	}
	data, err := os.ReadFile(path)
	must.Do(t, err)
	return data
}

// settings is a host whose only operation returns the configuration.
type settings struct{}

func (settings) Call(_ context.Context, op abi.Op, request []byte) ([]byte, error) {
	if op != abi.OpConfigGet || string(request) != "{}" {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "only config.get is granted"}
	}
	return []byte(`{"volume":11}`), nil
}

func TestGuestsInAllLanguagesAgree(t *testing.T) {
	const request = `{"tool":"shout_text","arguments":{"text":"tea, please"},"config":{},"context":{}}`
	for _, language := range []string{"go", "rust", "c", "assemblyscript"} {
		t.Run(language, func(t *testing.T) {
			if testing.Short() && language == "go" {
				t.Skip("a guest in Go takes long to compile under the race detector: the tests without -short run it")
			}
			logged := &lineLog{}
			config := testConfig(t)
			config.Log = slog.New(logged)
			m, err := newSandbox(t, config).Admit(context.Background(), guest(t, language), Options{Bare: true})
			must.Do(t, err)
			for _, c := range []struct {
				payload string
				host    Host
				class   abi.Class
				output  string
				code    abi.Code
			}{
				{request, settings{}, abi.ClassOK, `{"text":"TEA, PLEASE","config":{"volume":11}}`, ""},
				{request, settings{}, abi.ClassOK, `{"text":"TEA, PLEASE","config":{"volume":11}}`, ""},
				{request, nil, abi.ClassOK, `{"text":"TEA, PLEASE","config":{"code":"denied","message":"\"config.get\": nothing was granted","retryable":false}}`, ""},
				{`{"tool":"shout_text","arguments":{}}`, settings{}, abi.ClassError, "", abi.CodeInvalidArgument},
			} {
				r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte(c.payload), Host: c.host})
				must.Do(t, err)
				if r.Class != c.class || string(r.Output) != c.output {
					t.Errorf("call of %s: class %s, output %s (%v), want class %s, output %s", c.payload, r.Class, r.Output, r.Error, c.class, c.output)
				}
				if c.code != "" && r.Error.Code != c.code {
					t.Errorf("the error is %v, want %s", r.Error, c.code)
				}
			}
			if lines := logged.take(); len(lines) != 3 || lines[0] != "shouting" {
				t.Errorf("the log is %q", lines)
			}
			if n := m.started.Load(); n != 1 {
				t.Errorf("%d instances were started", n)
			}
		})
	}
}

func TestTheGuestOfTheSpecificationForwardsItsConfiguration(t *testing.T) {
	m := admit(t, newSandbox(t, testConfig(t)), "guests/wat.wasm", Options{Bare: true})
	r, err := m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte("{}"), Host: settings{}})
	must.Do(t, err)
	if r.Class != abi.ClassOK || string(r.Output) != `{"volume":11}` {
		t.Errorf("class %s, output %s (%v), want its configuration", r.Class, r.Output, r.Error)
	}
	r, err = m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte("{}")})
	must.Do(t, err)
	if r.Class != abi.ClassError || r.Error.Code != abi.CodeDenied {
		t.Errorf("without a host: class %s, %v, want the error %s", r.Class, r.Error, abi.CodeDenied)
	}
}

func TestAPackedGuestIsAdmittedWithItsManifest(t *testing.T) {
	manifest, err := os.ReadFile("../../abi/testdata/manifest.json")
	must.Do(t, err)
	for _, language := range []string{"rust", "c", "assemblyscript", "wat"} {
		packed, err := Pack(guest(t, language), manifest)
		must.Do(t, err)
		m, err := newSandbox(t, testConfig(t)).Admit(context.Background(), packed, Options{Vetted: true})
		must.Do(t, err)
		if m.Family() != "shout" || m.Limits().HostCalls != 100 {
			t.Errorf("%s: %s with at most %d host calls", language, m.Family(), m.Limits().HostCalls)
		}
	}
}
