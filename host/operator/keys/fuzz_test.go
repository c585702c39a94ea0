package keys

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// FuzzWhatClientsPresent presents texts as keys, tokens and codes to keys that have one of each, which no other text admits.
func FuzzWhatClientsPresent(f *testing.F) {
	k, err := Open(Options{Path: filepath.Join(f.TempDir(), "keys.json"), Clock: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	owner := memory.Caller{Agent: "operator", Rights: memory.FullRights()}
	grant := Grant{Agent: "ann", Namespaces: []string{"*"}, Rights: []memory.Right{Read}}
	_, t, err := k.Authorize(owner, Client{ID: "c", Name: "C", Resource: "r"}, grant)
	if err != nil {
		f.Fatal(err)
	}
	_, code, err := k.Invite(grant, time.Time{})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{t.Access, t.Refresh, code, strings.ToUpper(code), t.Access + "x", t.Refresh[:len(t.Refresh)-1], refreshPrefix + "_", prefix + "_", ""} {
		f.Add(text)
	}
	f.Fuzz(func(tt *testing.T, text string) {
		if _, err := k.Verify(text); (err == nil) != (text == t.Access) {
			tt.Errorf("Verify(%q): got %v, want it to hold only if it is the access token", text, err)
		}
		if s, _, newest := k.ofRefresh(text, "c"); newest != (text == t.Refresh) || s != nil && !isRefresh(text) {
			tt.Errorf("ofRefresh(%q): got %v, %t, want it to be the newest only if it is the refresh token", text, s, newest)
		}
		if _, err := k.Invited(text); (err == nil) != (len(text) <= longestText && plainCode(text) == plainCode(code)) {
			tt.Errorf("Invited(%q): got %v, want it to hold only if it is the code, however it is written", text, err)
		}
	})
}
