package container

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/memory"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/alcove-memory/alcove/cmd/release/product"
	"github.com/alcove-memory/alcove/host/testing/ociregistry"
)

// released is a release with programs that are texts.
func released(t *testing.T) product.Release {
	t.Helper()
	r := product.Release{Version: "v1.2.3+build", Dir: t.TempDir()}
	for _, arch := range Architectures() {
		if err := os.WriteFile(r.Program(product.Platform{OS: "linux", Arch: arch}), []byte("the program for "+arch), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestTheSameProgramsGiveTheSameImageTwice(t *testing.T) {
	r := released(t)
	made := func() (digest.Digest, []byte) {
		index, err := Write(r)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(File(r))
		if err != nil {
			t.Fatal(err)
		}
		return index, data
	}
	index, data := made()
	again, same := made()
	if index != again || !bytes.Equal(data, same) {
		t.Errorf("got %s and %s, want the same bytes", index, again)
	}
}

func TestAnImageHasItsProgramAUserWithoutRightsAndRootCertificates(t *testing.T) {
	r := released(t)
	if _, err := Write(r); err != nil {
		t.Fatal(err)
	}
	store, err := oci.NewFromTar(t.Context(), File(r))
	if err != nil {
		t.Fatal(err)
	}
	top, err := store.Resolve(t.Context(), "ghcr.io/alcove-memory/alcove:1.2.3-build")
	if err != nil {
		t.Fatal(err)
	}
	var index v1.Index
	read(t, store, top, &index)
	if got := len(index.Manifests); got != len(Architectures()) {
		t.Fatalf("got %d images, want %d", got, len(Architectures()))
	}
	for i, arch := range Architectures() {
		d := index.Manifests[i]
		if got := *d.Platform; got.OS != "linux" || got.Architecture != arch {
			t.Errorf("got an image for %+v, want linux and %s", got, arch)
		}
		var m v1.Manifest
		read(t, store, d, &m)
		var c imageConfig
		read(t, store, m.Config, &c)
		if c.Architecture != arch || c.Config.User != "10001:10001" || c.Config.Healthcheck.Test[1] != "/alcove" {
			t.Errorf("got the configuration %+v", c)
		}
		checkFiles(t, unpacked(t, store, m, c), arch)
	}
}

func checkFiles(t *testing.T, files map[string]tarred, arch string) {
	t.Helper()
	for name, want := range map[string]string{
		"alcove": "755 0 the program for " + arch, "data/": "700 10001 ", "tmp/": "1777 0 ",
		"etc/passwd": "644 0 root:x:0:0::/:/\nalcove:x:10001:10001::/data/home:/\n",
	} {
		f := files[name]
		if got := fmt.Sprintf("%o %d %s", f.Mode, f.Uid, f.content); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	pool, rest, count := x509.NewCertPool(), files[roots].content, 0
	for block, more := pem.Decode(rest); block != nil; block, more = pem.Decode(more) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		pool.AddCert(c)
		count++
	}
	if count < 50 {
		t.Errorf("got %d root certificates, want at least 50", count)
	}
}

// read reads a JSON document of a layout.
func read(t *testing.T, from content.Fetcher, d v1.Descriptor, into any) {
	t.Helper()
	data, err := content.FetchAll(t.Context(), from, d)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type tarred struct {
	*tar.Header
	content []byte
}

// unpacked are the files of an image, whose layers have the digests that its configuration says.
func unpacked(t *testing.T, from content.Fetcher, m v1.Manifest, c imageConfig) map[string]tarred {
	t.Helper()
	files := map[string]tarred{}
	for i, d := range m.Layers {
		packed, err := content.FetchAll(t.Context(), from, d)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := digest.FromBytes(data), c.RootFS.DiffIDs[i]; got != want {
			t.Errorf("layer %d: got %s, want %s", i, got, want)
		}
		for archive := tar.NewReader(bytes.NewReader(data)); ; {
			h, err := archive.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			files[h.Name] = tarred{h, content}
		}
	}
	return files
}

func TestARegistryHasTheImageThatWasPushed(t *testing.T) {
	address := ociregistry.Start(t, "")
	r := released(t)
	index, err := Write(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // has no credentials
	if err := Push(t.Context(), r, address+"/memory/alcove:1.2.3", true); err != nil {
		t.Fatal(err)
	}
	from, err := remote.NewRepository(address + "/memory/alcove")
	if err != nil {
		t.Fatal(err)
	}
	from.PlainHTTP = true
	pulled := memory.New()
	got, err := oras.Copy(t.Context(), from, "1.2.3", pulled, "1.2.3", oras.DefaultCopyOptions)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != index {
		t.Errorf("got %s, want %s", got.Digest, index)
	}
	var i v1.Index
	read(t, pulled, got, &i)
	for _, d := range i.Manifests {
		var m v1.Manifest
		read(t, pulled, d, &m)
		var c imageConfig
		read(t, pulled, m.Config, &c)
		checkFiles(t, unpacked(t, pulled, m, c), d.Platform.Architecture)
	}
	if err := Push(t.Context(), r, address+"/Not a name", true); err == nil {
		t.Error("an invalid reference is pushed to")
	}
}

func TestAnImageWithoutAProgramIsNotMade(t *testing.T) {
	r := released(t)
	if err := os.Remove(filepath.Join(r.Dir, "alcove-linux-arm64")); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(r); err == nil || !strings.Contains(err.Error(), "read the program for the image") {
		t.Errorf("got %v, want that the program cannot be read", err)
	}
	if err := Push(t.Context(), r, "127.0.0.1:1/alcove:1", true); err == nil || !strings.Contains(err.Error(), "open the image") {
		t.Errorf("got %v, want that the image cannot be opened", err)
	}
}
