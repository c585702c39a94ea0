package oci

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/alcove-memory/alcove/abi"
)

// sound is an artifact that a registry may send.
func sound() Artifact {
	return Artifact{Name: "notes", Module: []byte("\x00asm\x01\x00\x00\x00"), Manifest: []byte(`{"name":"notes"}`), Signature: []byte("signed")}
}

// registryOf serves an artifact on loopback, as change has changed its manifest and answers has replaced answers, by their paths.
func registryOf(t *testing.T, change func(*spec.Manifest), answers map[string]http.HandlerFunc) (Reference, http.Handler) {
	t.Helper()
	manifest, blobs, err := encode(sound())
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		var m spec.Manifest
		if err := json.Unmarshal(manifest.data, &m); err != nil {
			t.Fatal(err)
		}
		change(&m)
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		manifest = blobOf(spec.MediaTypeImageManifest, "", data)
	}
	known := map[string]blob{"/v2/notes/manifests/1": manifest, "/v2/notes/manifests/" + string(manifest.Digest): manifest}
	for _, b := range blobs {
		known["/v2/notes/blobs/"+string(b.Digest)] = b
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for part, answer := range answers {
			if strings.HasPrefix(r.URL.Path, "/v2/notes/"+part) {
				answer(w, r)
				return
			}
		}
		b, found := known[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", b.MediaType)
		w.Header().Set("Content-Length", fmt.Sprint(len(b.data)))
		w.Header().Set("Docker-Content-Digest", string(b.Digest))
		w.Write(b.data)
	})
	return Reference{Repository: "notes", Tag: "1", Digest: string(manifest.Digest)}, handler
}

// at serves a registry without TLS until the test ends.
func at(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestWhatARegistryClaimsIsCompared(t *testing.T) {
	module := func(m *spec.Manifest) *spec.Descriptor { return &m.Layers[0] }
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 4 {
			z.Write(make([]byte, 1<<20))
		}
		z.Close()
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }
	}
	other := digest.FromString("another")
	for _, c := range []struct {
		name    string
		change  func(*spec.Manifest)
		answers map[string]http.HandlerFunc
		byTag   bool // the reference has no digest
		want    string
	}{
		{name: "a layer larger than a module may be", change: func(m *spec.Manifest) { module(m).Size = abi.DefaultModuleLimits().ModuleBytes + 1 }, want: "the limit is"},
		{name: "a manifest larger than one may be", change: func(m *spec.Manifest) { m.Layers[1].Size = 1 << 40 }, want: "the limit is"},
		{name: "a layer of no bytes", change: func(m *spec.Manifest) { module(m).Size = 0 }, want: "has 0 bytes"},
		{name: "too many layers", change: func(m *spec.Manifest) {
			for len(m.Layers) <= mostLayers {
				m.Layers = append(m.Layers, spec.Descriptor{MediaType: "text/plain", Digest: other, Size: 1})
			}
		}, want: "17 layers: the limit is 16"},
		{name: "two modules", change: func(m *spec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) }, want: "more than one layer of the type application/wasm"},
		{name: "no module", change: func(m *spec.Manifest) { m.Layers = m.Layers[1:] }, want: "no layer of the type application/wasm"},
		{name: "a compressed layer", change: func(m *spec.Manifest) { module(m).MediaType = "application/wasm+zstd" }, want: "no layer of the type application/wasm"},
		{name: "another hash", change: func(m *spec.Manifest) { module(m).Digest = "md5:00" }, want: "only sha256"},
		{name: "an index", change: func(m *spec.Manifest) { m.MediaType = spec.MediaTypeImageIndex }, want: "give the digest of one artifact"},
		{name: "other bytes of a layer", answers: map[string]http.HandlerFunc{"blobs/": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("\x00asm\x01\x00\x00\x01")) }}, want: "get the layer"},
		{name: "a layer cut short", answers: map[string]http.HandlerFunc{"blobs/": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); w.Write([]byte("\x00as")) }}, want: "its digest is"},
		{name: "a layer that does not end", answers: map[string]http.HandlerFunc{"blobs/": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}}, want: "bytes came"},
		{name: "a compressed bomb", answers: map[string]http.HandlerFunc{"blobs/": bomb}, want: "get the layer"},
		{name: "a bomb for a manifest", answers: map[string]http.HandlerFunc{"manifests/": bomb}, byTag: true, want: "Content-Type"},
		{name: "a manifest that does not end", answers: map[string]http.HandlerFunc{"manifests/": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", spec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", string(other))
			w.Header().Set("Content-Length", fmt.Sprint(answerLimit+1))
			w.Write(bytes.Repeat([]byte(" "), answerLimit+1))
		}}, byTag: true, want: "more than 65536 bytes"},
		{name: "a manifest under a false digest", answers: map[string]http.HandlerFunc{"manifests/": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", spec.MediaTypeImageManifest)
			w.Header().Set("Content-Length", "2")
			w.Header().Set("Docker-Content-Digest", string(other))
			w.Write([]byte("{}"))
		}}, byTag: true, want: "and sends"},
		{name: "another artifact for a digest", answers: map[string]http.HandlerFunc{"manifests/": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", spec.MediaTypeImageManifest)
			w.Write([]byte("{}"))
		}}, want: "mismatch"},
		{name: "redirects without end", answers: map[string]http.HandlerFunc{"blobs/": redirect("/v2/notes/blobs/again")}, want: "redirects more than 5 times"},
		{name: "a redirect to cloud metadata", answers: map[string]http.HandlerFunc{"blobs/": redirect("https://169.254.169.254/latest/meta-data")}, want: "this machine's"},
		{name: "a redirect to elsewhere without TLS", answers: map[string]http.HandlerFunc{"blobs/": redirect("http://192.0.2.1/m")}, want: "not of https"},
		{name: "an error of many bytes", answers: map[string]http.HandlerFunc{"manifests/": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			w.Write(bytes.Repeat([]byte("x"), 1<<20))
		}}, want: "500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, handler := registryOf(t, c.change, c.answers)
			if c.byTag {
				r.Digest = ""
			}
			r.Registry = at(t, handler)
			a, _, err := Client{PlainHTTP: true}.Pull(t.Context(), r)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 20_000 {
				t.Errorf("%d bytes of a module, and %v, not %q", len(a.Module), err, c.want)
			}
		})
	}
}

func TestASoundArtifactIsPulledByTagAndByDigest(t *testing.T) {
	r, handler := registryOf(t, func(m *spec.Manifest) { // layers of others are left alone
		m.Layers = append(m.Layers, spec.Descriptor{MediaType: "application/vnd.other.policy", Digest: digest.FromString("policy"), Size: 1 << 50})
	}, nil)
	r.Registry = at(t, handler)
	tagged := r
	tagged.Digest = ""
	for _, given := range []Reference{r, tagged} {
		a, got, err := Client{PlainHTTP: true}.Pull(t.Context(), given)
		if err != nil || got != r || string(a.Module) != string(sound().Module) || string(a.Manifest) != string(sound().Manifest) || string(a.Signature) != "signed" {
			t.Errorf("Pull(%s) = %q of %s, %v, want the sound artifact of %s", given, a, got, err, r)
		}
	}
}

func TestARegistryThatIsSilentIsGivenUp(t *testing.T) {
	asked := make(chan struct{}, 8)
	r, handler := registryOf(t, nil, map[string]http.HandlerFunc{"blobs/": func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}})
	r.Registry = at(t, handler)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, _, err := (Client{PlainHTTP: true}).Pull(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := (Client{PlainHTTP: true, Time: time.Millisecond}).Pull(t.Context(), r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after its time: %v", err)
	}
}

func TestWithoutTLSNothingLeavesThisMachine(t *testing.T) {
	for _, host := range []string{"registry.example.org", "192.0.2.1:5000", "169.254.169.254", "localhost.example.org"} {
		_, _, err := Client{PlainHTTP: true}.Pull(t.Context(), Reference{Registry: host, Repository: "notes", Tag: "1"})
		if err == nil || !strings.Contains(err.Error(), "is not this machine") {
			t.Errorf("Pull from %s: %v, want the error that it is not this machine", host, err)
		}
	}
	r, handler := registryOf(t, nil, nil)
	r.Registry = at(t, handler) // it has no TLS
	if _, _, err := (Client{}).Pull(t.Context(), r); err == nil || !strings.Contains(err.Error(), "HTTP response to HTTPS") {
		t.Errorf("a registry without TLS: %v", err)
	}
	server := httptest.NewTLSServer(handler)
	defer server.Close()
	r.Registry = server.Listener.Addr().String()
	var unknown *tls.CertificateVerificationError
	if _, _, err := (Client{}).Pull(t.Context(), r); !errors.As(err, &unknown) {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}

// A registry of the public internet leads to no address of a private network, and none leads to cloud metadata.
func TestARegistryLeadsOnlyToAddressesAsPublicAsItsOwn(t *testing.T) {
	for _, c := range []struct {
		host, own, elsewhere string
		admitted             bool
	}{
		{"r.example.org", "93.184.215.14:443", "93.184.215.15:443", true},
		{"r.example.org", "93.184.215.14:443", "10.0.0.1:443", false},
		{"r.example.org", "93.184.215.14:443", "127.0.0.1:443", false},
		{"r.example.org", "93.184.215.14:443", "169.254.169.254:443", false},
		{"r.example.org", "93.184.215.14:443", "[::1]:443", false},
		{"r.example.org", "93.184.215.14:443", "[64:ff9b::a9fe:a9fe]:443", false},
		{"r.corp", "10.0.0.2:443", "10.0.0.1:443", true},
		{"r.corp", "10.0.0.2:443", "169.254.169.254:443", false},
	} {
		g := &gate{host: c.host}
		if err := g.admit(c.host, c.own); err != nil {
			t.Errorf("%s at %s: %v", c.host, c.own, err)
		}
		if err := g.admit("elsewhere", c.elsewhere); (err == nil) != c.admitted {
			t.Errorf("%s leads to %s: %v", c.own, c.elsewhere, err)
		}
	}
	if err := (&gate{host: "r.example.org"}).admit("r.example.org", "169.254.169.254:443"); err == nil {
		t.Error("a registry's name led to cloud metadata")
	}
	if err := (&gate{client: Client{PlainHTTP: true}, host: "localhost"}).admit("localhost", "93.184.215.14:80"); err == nil {
		t.Error("localhost led to another machine")
	}
}

// What a registry says of its token server decides where a password goes.
func TestAPasswordGoesToTheRegistryAlone(t *testing.T) {
	var thief atomic.Int32
	elsewhere := at(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			thief.Add(1)
		}
	}))
	r, handler := registryOf(t, nil, map[string]http.HandlerFunc{"blobs/": func(w http.ResponseWriter, r *http.Request) {
		u := url.URL{Scheme: "http", Host: elsewhere, Path: "/steal"}
		http.Redirect(w, r, u.String(), http.StatusTemporaryRedirect)
	}})
	r.Registry = at(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != "ann" || password != "opensesame" {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	var asked atomic.Value
	client := Client{PlainHTTP: true, Credentials: func(_ context.Context, host string) (auth.Credential, error) {
		asked.Store(host)
		return auth.Credential{Username: "ann", Password: "opensesame"}, nil
	}}
	if _, _, err := client.Pull(t.Context(), r); err == nil || asked.Load() != r.Registry || thief.Load() != 0 {
		t.Errorf("%v: the credentials of %v were asked for, and %d requests elsewhere had them", err, asked.Load(), thief.Load())
	}
	r.Digest, r.Tag = "", "1"
	token := at(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://169.254.169.254/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	r.Registry = token
	if _, _, err := client.Pull(t.Context(), r); err == nil || !strings.Contains(err.Error(), "realm") && !strings.Contains(err.Error(), "not of https") {
		t.Errorf("a token server at cloud metadata: %v", err)
	}
}

func TestReferencesAreReadAndWritten(t *testing.T) {
	sum := "sha256:" + strings.Repeat("0a", 32)
	for text, want := range map[string]string{
		"r.example.org/notes:1": "oci://r.example.org/notes:1", "oci://r.example.org/a/notes@" + sum: "oci://r.example.org/a/notes@" + sum,
		"127.0.0.1:5000/notes:1@" + sum: "oci://127.0.0.1:5000/notes:1@" + sum, "r.example.org/notes": "oci://r.example.org/notes",
		"notes:1": "", "r.example.org/notes@sha256:12": "", "r.example.org/notes@": "", "r.example.org/NOTES:1": "", "u:p@r.example.org/notes:1": "", "r.example.org/../notes:1": "",
		"r.example.org/notes:" + strings.Repeat("1", 600): "", "r.example.org/notes:1?x=1": "", "oci://oci://r/notes:1": "", "r.example.org/notes@sha512:" + strings.Repeat("0a", 64): "",
	} {
		r, err := Parse(text)
		if (err == nil) != (want != "") || err == nil && r.String() != want {
			t.Errorf("Parse(%q) = %s, %v, want %q", text, r, err, want)
		}
	}
}

func FuzzManifest(f *testing.F) {
	manifest, _, err := encode(sound())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(manifest.data)
	f.Add([]byte(`{"layers":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, err := partsOf(data)
		if _, found := parts[ModuleType]; err == nil && !found {
			t.Error("an artifact without a module was read")
		}
		for kind, p := range parts {
			if p.Size <= 0 || p.Size > limitsOf()[kind] || !digestForm().MatchString(string(p.Digest)) {
				t.Errorf("the part %s is %v, want a size of 1 to %d and a SHA-256 digest", kind, p, limitsOf()[kind])
			}
		}
	})
}
