package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/registry/checksums"
	"github.com/alcove-memory/alcove/registry/signature"
)

const someModule = "\x00asm\x01\x00\x00\x00"

// built is a folder with an image of two families, a program that carries it, which is this test with the image behind it, and two keys.
func built(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	packed := map[string][]byte{}
	for _, name := range []string{"ann", "bob"} {
		manifest := `{"name":"` + name + `","version":"1.2.3","description":"Serves ` + name + `"}`
		packed[name] = withManifest(manifest)
	}
	var b bytes.Buffer
	if err := image.Write(&b, image.Content{Module: []byte(someModule), Packed: packed, Names: []string{"ann", "bob"}}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "families.image", b.Bytes())
	write(t, dir, "program", append(program, b.Bytes()...))
	for n, name := range []string{"old.key", "new.key"} {
		write(t, dir, name, signature.EncodePair(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(n + 1)}, ed25519.SeedSize))))
	}
	return dir
}

// withManifest is a module with a manifest that has less than 100 bytes.
func withManifest(manifest string) []byte {
	content := append([]byte{byte(len("alcove.manifest"))}, "alcove.manifest"+manifest...)
	return append(append([]byte(someModule), 0, byte(len(content))), content...)
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ran is what the command writes. Arguments that begin with @ are files in the folder.
func ran(dir string, args ...string) (string, error) {
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "@", dir+string(filepath.Separator))
	}
	var out bytes.Buffer
	err := run(args, &out)
	return out.String(), err
}

// schema is what CycloneDX publishes for its version 1.6, as its Go module has it.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	for url, name := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		f, err := os.Open(filepath.Join(strings.TrimSpace(string(out)), "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := c.AddResource("http://cyclonedx.org/schema/"+url, doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheBillOfMaterialsIsAsCycloneDXSaysAndNamesFamilies(t *testing.T) {
	dir := built(t)
	signatures, err := ran(dir, "sign", "-image", "@families.image", "-keys", "@old.key")
	if err != nil {
		t.Fatal(err)
	}
	made := func() string {
		out, err := ran(dir, "sbom", "-image", "@families.image", "-program", "@program", "-version", "v1.0.0+x", "-signatures", signatures)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	text := made()
	if made() != text {
		t.Error("the same program has two bills")
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(doc); err != nil {
		t.Error(err)
	}
	var bom struct {
		Metadata struct {
			Component struct{ Version, Purl string }
		}
		Components []struct {
			Name, Version, Purl string
			Hashes              []struct{ Alg, Content string }
		}
	}
	if err := json.Unmarshal([]byte(text), &bom); err != nil {
		t.Fatal(err)
	}
	if c := bom.Metadata.Component; c.Version != "v1.0.0+x" || !strings.HasSuffix(c.Purl, "@v1.0.0%2Bx") {
		t.Errorf("the program is %+v", c)
	}
	i, err := openImage(filepath.Join(dir, "families.image"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, c := range bom.Components {
		if len(c.Hashes) == 1 {
			found[c.Name] = c.Version + " " + c.Hashes[0].Alg + " " + c.Hashes[0].Content
		} else {
			found[c.Name] = c.Purl
		}
	}
	for _, f := range i.Families() {
		if found[f.Name] != "1.2.3 SHA-256 "+f.Digest {
			t.Errorf("family %s is %q", f.Name, found[f.Name])
		}
	}
	if want := "pkg:deb/debian/quickjs@2025.04.26-1"; found["quickjs"] != want {
		t.Errorf("the engine of JavaScript was built from %q, want %q", found["quickjs"], want)
	}
	if !strings.HasPrefix(found["std"], "pkg:golang/std@1.") || !strings.Contains(text, `"alcove:catalogue"`) || !strings.Contains(text, `"alcove:release-key"`) {
		t.Errorf("it lacks the standard library, the catalogue or the key: %s", text)
	}
}

func TestThePackagesOfNpmAreNamedWithTheirSizes(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "alcove-linux-amd64")); err != nil {
		t.Skip(err)
	}
	out, err := ran(dir, "npm", "-version", "v1.2.3", "-dir", dir, "-sources", "../..")
	if err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, "alcove-memory-linux-x64-1.2.3.tgz") {
		t.Errorf("got %q, %v, want two packages", out, err)
	}
}

func TestTheSumsOfAReleaseAreSignedByItsKeys(t *testing.T) {
	dir, keys := t.TempDir(), built(t)
	write(t, dir, "alcove-linux-amd64", []byte("a program"))
	out, err := ran(keys, "sums", "-dir", dir, "-keys", "@old.key @new.key")
	if want := fmt.Sprintf("%x  alcove-linux-amd64\n", sha256.Sum256([]byte("a program"))); err != nil || out != want {
		t.Fatalf("got %q, %v, want %q", out, err, want)
	}
	for _, n := range []byte{1, 2} {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
		if r, err := checksums.Verify(os.DirFS(dir), signature.FormatPublic(key)); err != nil || len(r.Files) != 1 {
			t.Errorf("by key %d: got %+v, %v, want one file", n, r, err)
		}
	}
	if again, err := ran(keys, "sums", "-dir", dir); err != nil || again != out {
		t.Errorf("made again, it is %q, %v, want %q", again, err, out)
	}
}

func TestWhatIsNoReleaseIsRefused(t *testing.T) {
	dir := built(t)
	signatures, err := ran(dir, "sign", "-image", "@families.image", "-keys", "@old.key @new.key")
	if err != nil || strings.Count(signatures, ",") != 1 {
		t.Fatalf("sign = %s, %v, want 2 signatures", signatures, err)
	}
	write(t, dir, "broken.image", []byte("no image"))
	write(t, dir, "plain", []byte("no program"))
	if again, err := ran(dir, "sign", "-image", "@families.image", "-signatures", signatures); err != nil || again != signatures {
		t.Errorf("who builds it again gets %q, %v", again, err)
	}
	if none, err := ran(dir, "sign", "-image", "@families.image"); err != nil || none != "" {
		t.Errorf("without keys it is signed: %q, %v", none, err)
	}
	for want, args := range map[string][]string{
		"is not what the key":         {"sign", "-image", "@families.image", "-signatures", strings.Replace(signatures, ":", ":A", 1)},
		"read the key of the release": {"sign", "-image", "@families.image", "-keys", "@none.key"},
		"it is not a secret key":      {"sign", "-image", "@families.image", "-keys", "@plain"},
		"read the image":              {"sign", "-image", "@broken.image"},
		"does not carry the families": {"sbom", "-image", "@families.image", "-program", "@plain"},
		"read the program":            {"sbom", "-image", "@families.image", "-program", "@none"},
		"read how":                    {"sbom", "-image", "@families.image", "-program", "@families.image"},
		"give deploy, extensions, image, listing, npm, pack, push-image, sbom, sign or sums": {},
		"make the release first":        {"npm", "-version", "v1.2.3", "-dir", t.TempDir(), "-sources", "../.."},
		"npm takes flags only":          {"npm", "more"},
		"there is no command \"push\"":  {"push", "-image", "@families.image"},
		"give -version, and flags only": {"pack", "-dir", "@"},
		"build the programs first":      {"pack", "-dir", "@", "-version", "v1.0.0", "-manual", "@"},
	} {
		if out, err := ran(dir, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", args, out, err, want)
		}
	}
}
