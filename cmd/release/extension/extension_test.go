package extension

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	mcptypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// released is a release with programs that are texts.
func released(t *testing.T) product.Release {
	t.Helper()
	r := product.Release{Version: "v1.2.3", Dir: t.TempDir()}
	for _, p := range product.Platforms() {
		if err := os.WriteFile(r.Program(p), []byte("the program for "+p.String()), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestEachPlatformHasAnExtensionWhoseManifestFitsThePublishedSchema(t *testing.T) {
	r := released(t)
	if err := Write(r); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("testdata/manifest-0.3.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range product.Platforms() {
		dir := unpacked(t, File(r, p))
		data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("the manifest for %s: %v", p, err)
		}
		system := strings.Replace(p.OS, "windows", "win32", 1)
		s := started(t, dir, map[string]string{"directory": "/d", "read_only": "true"})
		program, err := os.ReadFile(s.Command)
		if got, want := string(program), "the program for "+p.String(); err != nil || got != want {
			t.Errorf("%s starts %q, %v, want %q", p, got, err, want)
		}
		if got, want := readManifest(t, dir).Compatibility.Platforms, []string{system}; !slices.Equal(got, want) {
			t.Errorf("%s is for %q, want %q", p, got, want)
		}
		if got, want := strings.Join(s.Args, " "), "mcp --read-only=true"; got != want {
			t.Errorf("%s has the arguments %q, want %q", p, got, want)
		}
		if got, want := s.Env, []string{"ALCOVE_DATA=/d", "ALCOVE_NAMESPACE="}; !slices.Equal(got, want) {
			t.Errorf("%s has the environment %q, want %q", p, got, want)
		}
	}
}

func TestTheSameProgramsGiveTheSameExtensionsTwice(t *testing.T) {
	r := released(t)
	made := func() []byte {
		if err := Write(r); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(File(r, product.Platforms()[0]))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if first, second := made(), made(); !bytes.Equal(first, second) {
		t.Errorf("got %d and %d bytes, want the same ones", len(first), len(second))
	}
}

func TestTheIconIsAPictureWithRoundCorners(t *testing.T) {
	data, err := Icon(64)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, corner := m.At(0, 0).RGBA()
	_, _, _, middle := m.At(32, 32).RGBA()
	if m.Bounds().Dx() != 64 || corner != 0 || middle != 0xffff {
		t.Errorf("got %v, alpha %d in a corner and %d in the middle, want 64 pixels, 0 and 65535", m.Bounds(), corner, middle)
	}
}

func TestAnExtensionWithoutItsProgramIsNotMade(t *testing.T) {
	r := released(t)
	if err := os.Remove(r.Program(product.Platforms()[3])); err != nil {
		t.Fatal(err)
	}
	if err := Write(r); err == nil || !strings.Contains(err.Error(), "make the extension for linux-arm64") {
		t.Errorf("got %v, want that there is none for linux-arm64", err)
	}
}

// unpacked is a directory with what an extension has.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	for _, f := range z.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, f.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func readManifest(t *testing.T, dir string) (m manifest) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

type start struct {
	Command   string
	Args, Env []string
}

// started is what a client starts after the user has chosen: it takes what was left out from the manifest, and puts all of it into
// the command, its arguments and its environment.
func started(t *testing.T, dir string, chosen map[string]string) (s start) {
	t.Helper()
	m := readManifest(t, dir)
	pairs := []string{"${__dirname}", dir}
	for name, c := range m.UserConfig {
		value, ok := chosen[name]
		if text, isText := c.Default.(string); !ok && isText {
			value = text
		} else if !ok {
			value = "false"
		}
		pairs = append(pairs, "${user_config."+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...).Replace
	s.Command = filepath.FromSlash(fill(m.Server.Command.Command))
	for _, a := range m.Server.Command.Args {
		s.Args = append(s.Args, fill(a))
	}
	for name, value := range m.Server.Command.Env {
		s.Env = append(s.Env, name+"="+fill(value))
	}
	slices.Sort(s.Env)
	return s
}

func TestTheReleasedExtensionServesAnMCPClientAsItsUserChose(t *testing.T) {
	r := product.Release{Version: os.Getenv("ALCOVE_RELEASE_VERSION"), Dir: os.Getenv("ALCOVE_RELEASE")}
	if r.Dir == "" {
		t.Skip("make release-test runs it: ALCOVE_RELEASE is the directory of a release")
	}
	dir := unpacked(t, File(r, product.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}))
	home := t.TempDir()
	memory := filepath.Join(home, "chosen")
	environment := []string{"HOME=" + home, "ALCOVE_LISTEN=off"}
	t.Cleanup(func() {
		for _, data := range []string{memory, ""} {
			stop := exec.Command(filepath.Join(dir, "server", "alcove"), "stop")
			stop.Env = append(slices.Clone(environment), "ALCOVE_DATA="+data)
			if out, err := stop.CombinedOutput(); err != nil {
				t.Errorf("stop: %s, %v", out, err)
			}
		}
	})
	writer := connected(t, started(t, dir, map[string]string{"directory": memory, "namespace": "desk"}), environment)
	called(t, writer, "memory_store", map[string]any{"key": "colour", "value": "blue"}, "colour")
	reader := connected(t, started(t, dir, map[string]string{"directory": memory, "namespace": "desk", "read_only": "true"}), environment)
	called(t, reader, "memory_recall", map[string]any{"key": "colour"}, "blue")
	called(t, reader, "memory_store", map[string]any{"key": "colour", "value": "red"}, "can only be read")
	usual := connected(t, started(t, dir, nil), environment)
	called(t, usual, "memory_recall", map[string]any{"key": "colour"}, `"found":false`)
	if entries, err := os.ReadDir(home); err != nil || len(entries) < 2 {
		t.Errorf("got %v, %v in the home, want the chosen directory and the usual one", entries, err)
	}
}

func TestTheReleasedManifestPassesThePublishersCheck(t *testing.T) {
	r := product.Release{Version: os.Getenv("ALCOVE_RELEASE_VERSION"), Dir: os.Getenv("ALCOVE_RELEASE")}
	npx, err := exec.LookPath("npx")
	if r.Dir == "" || err != nil {
		t.Skip("make release-test runs it where npx is installed: ALCOVE_RELEASE is the directory of a release")
	}
	for _, p := range product.Platforms() {
		check := exec.Command(npx, "--yes", "@anthropic-ai/mcpb@2.1.2", "validate", filepath.Join(unpacked(t, File(r, p)), "manifest.json"))
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("the manifest for %s: %s, %v", p, out, err)
		}
	}
}

// connected is a client that has started the server of an extension.
func connected(t *testing.T, s start, environment []string) *mcpclient.Client {
	t.Helper()
	client, err := mcpclient.NewStdioMCPClient(s.Command, append(slices.Clone(environment), s.Env...), s.Args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	begin := mcptypes.InitializeRequest{}
	begin.Params.ProtocolVersion = mcptypes.LATEST_PROTOCOL_VERSION
	begin.Params.ClientInfo = mcptypes.Implementation{Name: "desktop", Version: "1"}
	if _, err := client.Initialize(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	return client
}

func called(t *testing.T, client *mcpclient.Client, tool string, arguments map[string]any, want string) {
	t.Helper()
	call := mcptypes.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = tool, arguments
	answer, err := client.CallTool(t.Context(), call)
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	if got, err := json.Marshal(answer); err != nil || !strings.Contains(strings.ReplaceAll(string(got), `\"`, `"`), want) {
		t.Errorf("%s answers %s, %v, want %q in it", tool, got, err, want)
	}
}
