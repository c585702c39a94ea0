package guests_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// families are the names of all first-party families.
func families(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("families/*/manifest.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no families", err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	return names
}

func manifest(t testing.TB, family string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("families", family, "manifest.json"))
	must.Do(t, err)
	return data
}

// shared are the modules of this test run, built and admitted when they are first needed.
type shared struct {
	mu      sync.Mutex
	dir     string
	sandbox *sandbox.Sandbox
	packed  map[string][]byte // modules without manifests, by folder
	modules map[string]*sandbox.Module
}

var built shared

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "guests")
	if err != nil {
		panic(err)
	}
	built = shared{dir: dir, packed: map[string][]byte{}, modules: map[string]*sandbox.Module{}}
	code := m.Run()
	if built.sandbox != nil {
		built.sandbox.Close()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// all is the folder of the module of all families.
const all = "build/all"

// alone is the folder of the module of a family alone.
func alone(family string) string { return "families/" + family + "/guest" }

// linked is the module of a folder, without a manifest. The caller holds mu.
func (s *shared) linked(t testing.TB, folder string) []byte {
	t.Helper()
	if s.packed[folder] == nil {
		out := filepath.Join(s.dir, "linked.wasm")
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w -buildid=", "-o", out, "./"+folder)
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", folder, err, text)
		}
		data, err := os.ReadFile(out)
		must.Do(t, err)
		s.packed[folder] = data
	}
	return s.packed[folder]
}

// admitted is the module of a family alone, in a sandbox.
func admitted(t testing.TB, family string) *sandbox.Module {
	return admittedFrom(t, alone(family), family)
}

// admittedFrom is the module of a folder with a family's manifest, in a sandbox.
func admittedFrom(t testing.TB, folder, family string) *sandbox.Module {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	binary, err := sandbox.Pack(built.linked(t, folder), manifest(t, family))
	must.Do(t, err)
	if built.sandbox == nil {
		s, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: filepath.Join(built.dir, "cache")}})
		must.Do(t, err)
		built.sandbox = s
	}
	name := folder + " as " + family
	if built.modules[name] == nil {
		m, err := built.sandbox.Admit(context.Background(), binary, sandbox.Options{Vetted: true})
		must.Do(t, err)
		built.modules[name] = m
	}
	return built.modules[name]
}

// guest is a module as alcovetest calls it.
type guest struct {
	module *sandbox.Module
	last   *sandbox.Result
}

func (g *guest) Handle(host alcove.Host, kind alcove.Kind, request []byte) ([]byte, error) {
	result, err := g.module.Call(context.Background(), sandbox.Request{Kind: abi.Kind(kind), Payload: request, Host: bridge{host}})
	if err != nil {
		return nil, err
	}
	g.last = result
	if result.Class != abi.ClassOK {
		return nil, &alcove.Error{Code: alcove.Code(result.Error.Code), Message: result.Error.Message, Retryable: result.Error.Retryable, Details: result.Error.Details}
	}
	return result.Output, nil
}

// bridge is a host of alcovetest as the sandbox calls it.
type bridge struct{ host alcove.Host }

func (b bridge) Call(_ context.Context, op abi.Op, request []byte) ([]byte, error) {
	answer, err := b.host.Call(alcove.Op(op), request)
	if err != nil {
		code := alcove.CodeOf(err)
		return nil, &abi.Error{Code: abi.Code(code), Message: err.Error(), Retryable: code.Retryable()}
	}
	return answer, nil
}

// space is a host in memory with a family in the sandbox.
func space(t testing.TB, family string) (*alcovetest.Space, *guest) {
	t.Helper()
	g := &guest{module: admitted(t, family)}
	return alcovetest.New(t, g, manifest(t, family)), g
}

// What is packed runs in the sandbox as its family does natively, with the host's operations.
func TestAPackedModuleIsTestedInTheHost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ranking.wasm")
	built.mu.Lock()
	module, err := sandbox.Pack(built.linked(t, alone("ranking")), manifest(t, "ranking"))
	built.mu.Unlock()
	must.Do(t, err)
	must.Do(t, os.WriteFile(path, module, 0o600))
	s := alcovetest.Module(t, path)
	s.Config["decay_rate_plan"] = 0.99 // calls for the hook
	s.Put(
		alcove.Memory{Key: "liked", Value: alcove.JSON("green tea"), Type: "observation"},
		alcove.Memory{Key: "vital", Value: alcove.JSON("green tea for ann"), Type: "decision", Importance: new(1.)},
	)
	var out struct{ Results []struct{ Key string } }
	must.Do(t, s.Tool("memory_explain_ranking", map[string]any{"query": "green tea"}, &out))
	if want := []alcove.Op{alcove.OpMemorySearch, alcove.OpCallerGet}; len(out.Results) != 2 || !slices.Equal(s.Calls, want) {
		t.Errorf("%+v after %v, want two results after %v", out, s.Calls, want)
	}
	if ids, err := s.Search("green tea", 2); err != nil || len(ids) != 2 || ids[0].Key != out.Results[0].Key {
		t.Errorf("the search finds %v (%v)", ids, err)
	}
	if err := s.Tool("memory_rank_feedback", map[string]any{"query": "tea"}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("nothing judged: %v", err)
	}
}
