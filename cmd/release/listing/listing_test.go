package listing

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/cmd/release/container"
	"github.com/alcove-memory/alcove/cmd/release/extension"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

func TestTheListingFitsThePublishedSchemaAndNamesWhatWasMade(t *testing.T) {
	r := product.Release{Version: "v1.2.3-rc.1", Dir: t.TempDir()}
	for _, p := range product.Platforms() {
		if err := os.WriteFile(r.Program(p), []byte("the program for "+p.String()), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	index, err := container.Write(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(r); err == nil || !strings.Contains(err.Error(), "make the extensions first") {
		t.Errorf("without extensions: got %v, want that they are missing", err)
	}
	if err := extension.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := Write(r); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file(r))
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, data)
	checkPackages(t, r, data, "ghcr.io/alcove-memory/alcove:1.2.3-rc.1@"+index.String())
}

func checkSchema(t *testing.T, data []byte) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/server-2025-12-11.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
}

func checkPackages(t *testing.T, r product.Release, data []byte, image string) {
	t.Helper()
	var s server
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if got, want := len(s.Packages), 2+len(product.Platforms()); got != want {
		t.Fatalf("got %d packages, want %d", got, want)
	}
	if p := s.Packages[0]; p.Identifier != "alcove-memory" || p.Version != "1.2.3-rc.1" {
		t.Errorf("npm: got %+v, want alcove-memory and 1.2.3-rc.1", p)
	}
	if p := s.Packages[1]; p.Identifier != image || p.Version != "" { // the registry takes no version of an image
		t.Errorf("the image: got %+v, want %s", p, image)
	}
	for i, p := range product.Platforms() {
		content, err := os.ReadFile(extension.File(r, p))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		got := s.Packages[2+i]
		if want := r.URL("alcove-" + p.String() + ".mcpb"); got.Identifier != want || got.Digest != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: got %+v, want %s and %x", p, got, want, sum)
		}
	}
}

func TestLinksHaveWhatTheClientStarts(t *testing.T) {
	links, err := Links()
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guides", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		u, err := url.Parse(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		config := []byte(u.Query().Get("config"))
		if l.Client == "Cursor" {
			if config, err = base64.StdEncoding.DecodeString(string(config)); err != nil {
				t.Fatal(err)
			}
		}
		var got command
		if err := json.Unmarshal(config, &got); err != nil {
			t.Fatal(err)
		}
		if want := []string{"-y", "alcove-memory", "mcp"}; got.Command != "npx" || !slices.Equal(got.Args, want) || u.Query().Get("name") != "alcove" {
			t.Errorf("%s: got %+v of %s, want npx with %q", l.Client, got, l.URL, want)
		}
		if !strings.Contains(string(guide), "["+l.Client+"]("+l.URL+")") {
			t.Errorf("docs/guides/clients.md lacks [%s](%s)", l.Client, l.URL)
		}
	}
}
