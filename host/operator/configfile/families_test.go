package configfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry/signature"
)

// withNotes is a server with an installed family notes, which asks for what its grants are about.
func withNotes(t *testing.T) *server.Server {
	t.Helper()
	s := server.Start(t, host.Options{})
	server.Install(t, s.Acts, abi.Manifest{ABI: abi.Version, Name: "notes", Version: "1.0.0", Description: "Keeps notes.",
		Capabilities: []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "to look up"}, {Name: abi.CanMemoryWrite, Scope: []string{"work"}, Reason: "to note"}},
		Hooks:        abi.Hooks{Stored: &abi.StoreHook{}},
		Tools:        []abi.Tool{{Name: "notes_add", Description: "Adds one.", InputSchema: json.RawMessage(`{"type":"object"}`)}}}, guest.Relay("memory.list"))
	return s
}

func TestTheGrantsOfFamiliesBecomeThoseOfTheFile(t *testing.T) {
	t.Parallel()
	s := withNotes(t)
	for _, c := range []struct{ body, says string }{
		{"{posture: careful, prune: true, grants: {notes: {capabilities: [], hooks: []}}}", ""},
		{"grants: {notes: {capabilities: [memory.read, memory.write@calls], hooks: [stored=2], limits: {wall_ms: 100, http_calls_minute: 60}}}",
			"change grant notes: memory.read=*, was not granted; memory.write@calls=work, was not granted; the hook stored=2; http_calls_minute: 60, was the usual one; wall_ms: 100, was the usual one"},
		{"grants: {notes: {capabilities: [memory.read=work], hooks: [stored], http_methods: [GET], disabled: true}}",
			"change grant notes: memory.read=work, was memory.read=*; memory.write@calls=work: none; http_methods: GET, was *; disabled: true"},
		{"grants: {notes: {limits: {wall_ms: 90}, disabled: false}}", "change grant notes: wall_ms: 90, was 100; disabled: false"},
		{"{posture: personal, shared: true}", "change posture: personal, was careful; shared: true"},
		{"prune: true", "remove grant notes"},
	} {
		said, _ := apply(t, s.Acts, "version: 1\nfamilies:\n  "+c.body+"\n")
		if c.says != "" && said != c.says {
			t.Errorf("%s said\n%s\nwant\n%s", c.body, said, c.says)
		}
	}
	for text, want := range map[string]string{"{none: {}}": "none is not installed", "{notes: {digest: ab}}": "not ab", "{notes: {capabilities: [memory.read@night]}}": "give @calls or @jobs"} {
		if _, err := read(t, "version: 1\nfamilies: {grants: "+text+"}\n").Plan(t.Context(), s.Acts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("grants %s: got %v, want %s", text, err, want)
		}
	}
}

func TestTrustedKeysBecomeThoseOfTheFileAndStayRevoked(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{})
	author, reviewer := signature.FormatPublic(make([]byte, 32)), signature.FormatPublic([]byte(strings.Repeat("r", 32)))
	for _, c := range []struct{ body, says string }{
		{"{signatures: 1, keys: {author: {public: " + author + ", expires: 2099-12-31}, reviewer: {public: " + reviewer + "}}}", `create trusted key author: expires: "2100-01-01T00:00:00Z"; public: "` + author + `"`},
		{"keys: {author: {public: " + author + ", revoked: stolen}}", `change trusted key author: revoked: "stolen"`},
		{"keys: {author: {public: " + author + "}}", ""},
		{"{prune: true, signatures: 0, keys: {author: {public: " + author + "}}}", "change signatures: by 0 of the trusted keys, was 1\nremove trusted key reviewer"},
	} {
		said, _ := apply(t, s.Acts, "version: 1\ntrust:\n  "+c.body+"\n")
		if !strings.HasPrefix(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s said\n%s\nwant\n%s", c.body, said, c.says)
		}
	}
	trusted, err := operator.Call(t.Context(), s.Acts, operator.TrustKeys, operator.TrustRequest{})
	if err != nil || trusted.Keys["author"].Revoked != "stolen" || len(trusted.Keys) != 1 {
		t.Errorf("trusted are %v, %v, want author alone, revoked", trusted, err)
	}
	if _, err := read(t, "version: 1\ntrust: {keys: {author: {public: none}}}\n").Plan(t.Context(), s.Acts); err == nil {
		t.Error("a key that is none: got no error, want one")
	}
}

func TestAKeyIsReadFromTheFileOfItsOwner(t *testing.T) {
	t.Parallel()
	s, dir := server.Start(t, host.Options{}), t.TempDir()
	for _, last := range []byte{1, '\n'} {
		public := make([]byte, 33)
		public[0], public[32] = 1, last
		if err := os.WriteFile(filepath.Join(dir, "author.pub"), public, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := configfile.Read([]byte("version: 1\ntrust: {keys: {author: {public: {file: author.pub}}}}\n"), configfile.Resolver{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, said := planned(t, s.Acts, f); !strings.Contains(said, "create trusted key author") {
			t.Errorf("a key whose last byte is %d: got %s, want it trusted", last, said)
		}
	}
}
