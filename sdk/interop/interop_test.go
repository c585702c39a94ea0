// Package interop compares the SDKs: the same guest in each language gives the same answers.
package interop

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests/engines"
	source "github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/stress"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/interop/conform"
)

var update = flag.Bool("update", false, "write the answers of the guest in Go")

// languages are those with a committed module.
var languages = []string{"rust", "c", "cpp", "zig", "assemblyscript"}

// scene is a request, and what the host answers meanwhile.
type scene struct {
	Name    string
	Kind    abi.Kind
	Request map[string]json.RawMessage
	Columns [][]*float32
	Host    []step
}

// step is an operation that a guest asks for, and what it is answered.
type step struct {
	Op       string
	Request  json.RawMessage
	Response json.RawMessage
	Error    *abi.Error
}

func scenes(t testing.TB) (all []scene) {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// payload is the request's bytes.
func (s scene) payload(t testing.TB) []byte {
	t.Helper()
	s.Request["config"] = json.RawMessage(`{"word":"hello"}`)
	s.Request["context"] = json.RawMessage(`{"family":"interop","caller":"ann","namespace":"team","branch":"main","now":"2026-06-01T12:00:00Z","request_id":"r1"}`)
	data, err := json.Marshal(s.Request)
	if err != nil {
		t.Fatal(err)
	}
	if s.Kind != abi.KindScore {
		return data
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(s.Columns[0])))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(s.Columns)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	for out = append(out, data...); len(out)%4 != 0; {
		out = append(out, 0)
	}
	for _, column := range s.Columns {
		for _, v := range column {
			bits := math.Float32bits(float32(math.NaN()))
			if v != nil {
				bits = math.Float32bits(*v)
			}
			out = binary.LittleEndian.AppendUint32(out, bits)
		}
	}
	return out
}

// script is the host of a scene.
type script struct {
	t      testing.TB
	scene  scene
	done   int
	logged []string
}

func (h *script) run(op string, request []byte) ([]byte, *abi.Error) {
	if h.done == len(h.scene.Host) {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "the scene has no more operations: " + op}
	}
	step := h.scene.Host[h.done]
	h.done++
	if op != step.Op || !same(request, step.Request) {
		h.t.Errorf("%s %s, want %s %s", op, request, step.Op, step.Request)
	}
	var compact bytes.Buffer
	if step.Response != nil && json.Compact(&compact, step.Response) != nil { // as a host's is
		h.t.Errorf("%s: the response is no JSON", op)
	}
	return compact.Bytes(), step.Error
}

func same(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// native is the host of the family in this process.
type native struct{ *script }

func (h native) Log(line string) { h.logged = append(h.logged, line) }
func (h native) Call(op alcove.Op, request []byte) ([]byte, error) {
	answer, e := h.run(string(op), request)
	if e != nil {
		return nil, &alcove.Error{Code: alcove.Code(e.Code), Message: e.Message, Retryable: e.Retryable, Details: e.Details}
	}
	return answer, nil
}

// boxed is the host of a module.
type boxed struct{ *script }

func (h boxed) Call(_ context.Context, op abi.Op, request []byte) ([]byte, error) {
	answer, e := h.run(string(op), request)
	if e != nil {
		return nil, e
	}
	return answer, nil
}

var position = regexp.MustCompile(` \([a-z_]+\.[a-z]+:\d+\)`)

// told is an answer as a line; where a panic was, and whether it could be unwound, depends on the language.
func told(s scene, output []byte, e *abi.Error, logged []string) string {
	text := string(output)
	if s.Kind == abi.KindScore || s.Kind == abi.KindEmbed {
		text = fmt.Sprintf("% x", output)
	}
	if e != nil {
		if _, after, ok := strings.Cut(e.Message, "panic: "); ok {
			return s.Name + ": panic: " + position.ReplaceAllString(after, " (POSITION)")
		}
		data, _ := json.Marshal(e)
		text = "error " + string(data)
	}
	if len(logged) > 0 {
		text += fmt.Sprintf(" log %q", logged)
	}
	return s.Name + ": " + text
}

func inGo(t *testing.T) string {
	t.Helper()
	var lines []string
	for _, s := range scenes(t) {
		h := native{&script{t: t, scene: s}}
		output, err := conform.Family().Handle(h, alcove.Kind(s.Kind), s.payload(t))
		var e *abi.Error
		var own *alcove.Error
		if errors.As(err, &own) {
			e = &abi.Error{Code: abi.Code(own.Code), Message: own.Message, Retryable: own.Retryable, Details: own.Details}
		} else if err != nil {
			t.Fatalf("Handle(%s): %v, want an answer or an error with a code", s.Name, err)
		}
		lines = append(lines, told(s, output, e, h.logged))
	}
	return strings.Join(lines, "\n") + "\n"
}

// recorder keeps the lines that a module logs.
type recorder struct {
	slog.Handler
	lines *[]string
}

func (r recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r recorder) Handle(_ context.Context, record slog.Record) error {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "line" {
			*r.lines = append(*r.lines, a.Value.String())
		}
		return true
	})
	return nil
}

func inModule(t *testing.T, raw []byte) string {
	t.Helper()
	manifest, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := sandbox.Pack(raw, manifest)
	if err != nil {
		t.Fatal(err)
	}
	var logged []string
	box, err := sandbox.New(sandbox.Config{Log: slog.New(recorder{lines: &logged})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	m, err := box.Admit(t.Context(), packed, sandbox.Options{Vetted: true})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range scenes(t) {
		logged = nil
		h := boxed{&script{t: t, scene: s}}
		r, err := m.Call(t.Context(), sandbox.Request{Kind: s.Kind, Payload: s.payload(t), Host: h})
		if err != nil {
			t.Fatalf("call of %s: %v", s.Name, err)
		}
		if h.done != len(s.Host) {
			t.Errorf("%s: it ran %d operations, want %d", s.Name, h.done, len(s.Host))
		}
		if r.Class == abi.ClassTrap && r.Error.Details["panic"] == nil {
			t.Errorf("%s: the details of %v lack the panic", s.Name, r.Error)
		}
		lines = append(lines, told(s, r.Output, r.Error, logged))
	}
	return strings.Join(lines, "\n") + "\n"
}

// compare shows the first lines that differ.
func compare(t *testing.T, got, want string) {
	t.Helper()
	is, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range wants {
		if i >= len(is) || is[i] != wants[i] {
			t.Errorf("got  %s\nwant %s", is[min(i, len(is)-1)], wants[i])
		}
	}
}

func answers(t *testing.T) string {
	t.Helper()
	want, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(want)
}

func TestTheGuestInGoAnswersAsRecorded(t *testing.T) {
	got := inGo(t)
	if *update {
		if err := os.WriteFile("testdata/answers.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, got, answers(t))
}

func TestTheGuestInGoAnswersAlikeInTheSandbox(t *testing.T) {
	t.Parallel()
	module(t, builtGo(t))
}

// builtGo builds the guest in Go, and returns the path of its module.
func builtGo(t testing.TB) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "raw.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, "./go")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	return out
}

func module(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, inModule(t, raw), answers(t))
}

func TestTheCommittedGuestsOfOtherLanguagesAnswerAlike(t *testing.T) {
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			module(t, filepath.Join("testdata", language+".wasm"))
		})
	}
}

// scripted is the guest in a language with an engine: nothing is compiled.
func scripted(t testing.TB, path string) []byte {
	t.Helper()
	engine, err := engines.Of(source.LanguageOf(path))
	if err != nil {
		t.Fatal(err)
	}
	family, err := source.Bundle(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := source.Module(engine, family)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Their numbers are those of their languages, and so is the form of their JSON: 1.50 is 1.5, and an escape may be another one of the same
// character.
func TestTheGuestsOfLanguagesWithAnEngineAnswerAlike(t *testing.T) {
	for _, path := range []string{"javascript/family.js", "python/family.py"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			compare(t, plain(t, inModule(t, scripted(t, path))), plain(t, answers(t)))
		})
	}
}

// plain gives the JSON of each line one form.
func plain(t *testing.T, lines string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		name, rest, _ := strings.Cut(line, ": ")
		rest, logged, _ := strings.Cut(rest, " log [")
		var value any
		body, failed := strings.CutPrefix(rest, "error ")
		if json.Unmarshal([]byte(body), &value) == nil {
			data, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			rest = fmt.Sprintf("failed %v %s", failed, data)
		}
		all = append(all, name+": "+rest+" log "+logged)
	}
	return strings.Join(all, "\n") + "\n"
}

// Each day the guest of another language is built. The committed modules of all are tested each time.
func TestGuestsOfOtherLanguagesBuildAndAnswerAlike(t *testing.T) {
	t.Parallel()
	for _, language := range stress.Pick(t, 1, languages) {
		t.Run(language, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "raw.wasm")
			build := exec.Command("sh", "../compilers.sh", language, filepath.Join(language, "build.sh"))
			build.Env = append(os.Environ(), "OUT="+out)
			said, err := build.CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 77 {
				t.Skipf("not built: %s", bytes.TrimSpace(said))
			}
			if err != nil {
				t.Fatalf("build the guest in %s: %v\n%s", language, err, said)
			}
			if *update {
				raw, err := os.ReadFile(out)
				if err == nil {
					err = os.WriteFile(filepath.Join("testdata", language+".wasm"), raw, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			module(t, out)
		})
	}
}
