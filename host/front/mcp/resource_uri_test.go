package mcp

import (
	"strings"
	"testing"
)

func TestAURIIsReadAsItWasWritten(t *testing.T) {
	names := []string{"k", ".", "..", "...", "a/b", "a%2Fb", "history", "a b+c", "ü/東京", "?branch=x", "#", "%", "a&b=c", "\"<>\\^`{|}", "~-_.", "\t\n"}
	for _, name := range names {
		for _, u := range []resourceURI{
			memoryURI("default", "n", name), memoryURI("exp/1", "team/x", name), memoryURI("..", "..", name),
			{host: memoryHost, namespace: "n", name: name, branch: "default", history: true}, {host: branchHost, name: name}, {host: sessionHost, name: name},
		} {
			if got, err := parseURI(u.String()); err != nil || got != u {
				t.Errorf("%s is read as %+v, %v, want %+v", u, got, err, u)
			}
			if path := strings.TrimPrefix(u.String(), scheme); strings.Contains("/"+path+"/", "/../") || strings.Contains("/"+path+"/", "/./") {
				t.Errorf("%s would be resolved by readers of URLs", u)
			}
		}
	}
}

func TestOtherURIsAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "alcove:", "alcove://", "alcove://memory", "alcove://memory/n", "alcove://memory/n/", "alcove://memory//k", "alcove://memory/n/k/old",
		"alcove://memory/n/k/history/x", "alcove://memory/n/a/b", "alcove://memory/n/%", "alcove://memory/n/%zz", "alcove://memory/n/k?", "alcove://memory/n/k?as_of=v1",
		"alcove://memory/n/k?branch=", "alcove://branch", "alcove://branch/a/b", "alcove://branch/a?branch=b", "alcove://other/a", "file:///etc/passwd", "ui://x",
		"alcove://memory/n/" + strings.Repeat("k", longestURI),
	} {
		if u, err := parseURI(text); err == nil {
			t.Errorf("%.60q is read as %+v", text, u)
		}
	}
}

func FuzzURIs(f *testing.F) {
	for _, seed := range []string{"alcove://memory/n/k", "alcove://memory/team%2Fx/a%2Fb/history?branch=e", "alcove://branch/%2E%2E", "alcove://session/current", "alcove://memory/%/?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseURI(text)
		if err != nil {
			return
		}
		if u.host == memoryHost && (u.namespace == "" || u.branch == "") || u.name == "" {
			t.Errorf("%q is read as %+v", text, u)
		}
		if again, err := parseURI(u.String()); err != nil && len(u.String()) <= longestURI || err == nil && again != u {
			t.Errorf("%q is read as %+v, and %s as %+v, %v", text, u, u, again, err)
		}
	})
}

func FuzzNamesInURIs(f *testing.F) {
	f.Add("default", "team/x", "a/b c")
	f.Add("..", ".", "history")
	f.Fuzz(func(t *testing.T, branch, namespace, key string) {
		if branch == "" || namespace == "" || key == "" || len(branch)+len(namespace)+len(key) > longestURI/4 {
			return
		}
		u := memoryURI(branch, namespace, key)
		if got, err := parseURI(u.String()); err != nil || got != u {
			t.Errorf("%q is read as %+v, %v, want %+v", u, got, err, u)
		}
	})
}
