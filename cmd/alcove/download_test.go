package main

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAModuleIsInstalledFromAnAddressIfItsBytesAreThoseThatWereReviewed installs from a real server with TLS, by the program.
func TestAModuleIsInstalledFromAnAddressIfItsBytesAreThoseThatWereReviewed(t *testing.T) {
	t.Parallel()
	env := readmeHome(t)
	dir := t.TempDir()
	module := packedGuest(t, env, dir)
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	serveBytes := func(path string, data []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	}
	serveBytes("/m.wasm", module)
	serveBytes("/other.wasm", append(module[:len(module):len(module)], 0, 2, 1, 'x'))
	mux.Handle("/moved.wasm", http.RedirectHandler("/m.wasm", http.StatusFound))
	mux.Handle("/down.wasm", http.RedirectHandler("http://127.0.0.1:1/m.wasm", http.StatusFound))
	mux.HandleFunc("/bomb.wasm", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 64 {
			z.Write(make([]byte, 1<<20))
		}
		z.Close()
	})
	authority := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "SSL_CERT_FILE="+authority)
	good := fmt.Sprintf("#sha256=%x", sha256.Sum256(module))
	for _, c := range []struct{ address, want string }{
		{server.URL + "/m.wasm", "end it with #sha256="},
		{server.URL + "/m.wasm#sha256=12", "end it with #sha256="},
		{strings.Replace(server.URL, "https", "http", 1) + "/m.wasm" + good, "give an address of https"},
		{strings.Replace(server.URL, "https://", "https://u:p@", 1) + "/m.wasm" + good, "without a password"},
		{server.URL + "/other.wasm" + good, "it is not the module that was reviewed"},
		{server.URL + "/none.wasm" + good, "404"},
		{server.URL + "/down.wasm" + good, "not of https"},
		{server.URL + "/bomb.wasm" + good, "which is the limit of modules"},
	} {
		if out, err := installFrom(env, c.address); err == nil || !strings.Contains(out, c.want) || strings.Contains(out, "u:p") {
			t.Errorf("install from %s: %v, %s, want an error that says %q, without the password", c.address, err, out, c.want)
		}
	}
	for _, path := range []string{"/m.wasm?token=t0ken", "/moved.wasm"} {
		out, err := installFrom(env, server.URL+path+good)
		if err != nil || !strings.Contains(out, "shout 1.0.0 (installed)") || !strings.Contains(out, "not granted") || strings.Contains(out, "t0ken") {
			t.Errorf("install from %s: %v, %s, want shout installed, not granted, without the token", path, err, out)
		}
	}
}

func installFrom(env []string, address string) (string, error) {
	cmd := exec.Command("sh", "-c", `exec alcove family install "$0"`, address)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func packedGuest(t *testing.T, env []string, dir string) []byte {
	t.Helper()
	manifest := `{"abi":1,"name":"shout","version":"1.0.0","description":"Answers in capital letters",
		"capabilities":[{"name":"memory.read","scope":["*"],"reason":"to look things up"}],"config":[{"key":"voice","default":"loud"}],
		"tools":[{"name":"shout_text","description":"Says it louder","input_schema":{"type":"object"}}]}`
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	guest, err := filepath.Abs("../../host/sandbox/testdata/guests/c.wasm")
	if err != nil {
		t.Fatal(err)
	}
	runInShell(t, env, fmt.Sprintf("alcove family pack '%s' --manifest '%s/manifest.json' -o '%s/m.wasm'", guest, dir, dir))
	module, err := os.ReadFile(filepath.Join(dir, "m.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return module
}
