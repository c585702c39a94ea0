package main

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/registry/index"
)

func TestAnIndexIsSearchedOverHTTPSAndNothingInItIsTrusted(t *testing.T) {
	t.Parallel()
	env, dir := readmeHome(t), t.TempDir()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	line, err := index.Sign(index.Entry{Name: "tea", Version: "1.0.0", Description: "Keeps \u202eteas", Tools: []index.Tool{{Name: "tea_keep"}}, SHA256: strings.Repeat("0", 64), Source: "oci://r.example.org/tea:1@sha256:" + strings.Repeat("0", 64)}, key)
	if err != nil {
		t.Fatal(err)
	}
	const head = `{"alcove":"families","format":1}` + "\n"
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	for path, text := range map[string]string{
		"/good/index.jsonl": head + string(line), "/forged/index.jsonl": head + string(line) + strings.Replace(string(line), "Keeps", "Takes", 1) + "\x1b[2J\n",
		"/long/index.jsonl": head + strings.Repeat("a", index.MostEntry+2), "/other/index.jsonl": "<html>\x1b[2J",
		"/large/index.jsonl": strings.Repeat("a", index.MostBytes+1),
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) })
	}
	mux.Handle("/down/index.jsonl", http.RedirectHandler("http://127.0.0.1:1/index.jsonl", http.StatusFound))
	authority := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "SSL_CERT_FILE="+authority)
	for address, want := range map[string]string{
		"/good": "tea 1.0.0: Keeps ", "/good/index.jsonl": "tea 1.0.0: Keeps ", "/forged": "2 entries of ", "/long": "a line of more than 65536 bytes", "/other": "not an index of families", "/large": "which is the limit of indexes",
		"/down": "not of https", "/none": "404",
	} {
		said := runInShell(t, env, fmt.Sprintf("alcove family search tea --index %s%s 2>&1 || true", server.URL, address))
		if !strings.Contains(said, want) || strings.ContainsAny(said, "\x1b\u202e") {
			t.Errorf("search of %s says %q, want %q and no control characters", address, said, want)
		}
	}
	said := runInShell(t, env, "alcove family search tea --index "+strings.Replace(server.URL, "https://", "https://u:p4ss@", 1)+" 2>&1 || true; alcove family search tea --index http://127.0.0.1:1/ 2>&1 || true")
	if strings.Count(said, "give an address of https") != 2 || strings.Contains(said, "p4ss") {
		t.Errorf("it says %s, want two errors without the password", said)
	}
}
