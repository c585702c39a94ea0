//go:build guests

package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// siteWith is a website with one action, which wants a secret.
func siteWith(t *testing.T, secret string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+secret:
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodGet:
			w.Write([]byte(`{"name":"n","version":"1","actions":{"posts.list":{"description":"Lists posts","params":{}}}}`))
		default:
			w.Write([]byte(`{"success":true,"data":{"posts":["one"]}}`))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestSitesAreAddedListedAndRemoved(t *testing.T) {
	t.Parallel()
	const secret = "kept-by-the-operator-alone"
	dir, address := dataDir(t), siteWith(t, secret)
	run := func(in string, want string, args ...string) {
		t.Helper()
		c := program(t, dir, args...)
		c.Stdin, c.Stderr = strings.NewReader(in), nil
		out, err := c.CombinedOutput()
		if !strings.Contains(string(out), want) || bytes.Contains(out, []byte(secret)) {
			t.Errorf("alcove %s: %v: %s, want %q", strings.Join(args, " "), err, out, want)
		}
	}
	run("", "choose one with --slug", "site", "add", address)
	run("\n", "give one line", "site", "add", address, "--slug", "blog", "--secret-stdin")
	run(secret+"\n", "the site blog was added", "site", "add", address, "--slug", "blog", "--secret-stdin")
	run(secret+"\n", "choose another slug", "site", "add", "http://blog", "--secret-stdin")
	run("", "the site a-b was added", "site", "add", "http://a.b/api", "--secret-env", "NO_SUCH_SECRET")
	run("", "blog  "+address, "site", "list")
	run("", "the variable NO_SUCH_SECRET", "site", "list", "--json")
	run("", `"blog.posts.list"`, "call", "memory_site_connect", `{"slug":"blog"}`)
	run("", `"one"`, "call", "blog.posts.list", `{}`)
	run("", `"name": "blog_posts_list"`, "tools", "--json", "--family", "sites")
	run("", `"name": "memory_store_fact"`, "tools", "--json", "--family", "all")
	var holders []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(secret)) {
			holders = append(holders, path)
		}
		return nil
	})
	if err != nil || len(holders) != 1 || filepath.Base(holders[0]) != "site-blog" {
		t.Fatalf("the secret is in %q (%v)", holders, err)
	}
	if info, err := os.Stat(holders[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	run("", "the site blog was removed, with its tools", "site", "remove", "blog")
	run("", "there is no tool", "call", "blog.posts.list", `{}`)
	run("", "there is no endpoint", "site", "remove", "blog")
	if _, err := os.Stat(holders[0]); !os.IsNotExist(err) {
		t.Errorf("the secret is still there: %v", err)
	}
	run("", "the site a-b was removed", "site", "remove", "a-b")
}
