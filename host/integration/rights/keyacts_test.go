package rights_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// keyEntries returns the text of the audit log's entries about API keys, in order. Each is an operator's.
func keyEntries(t *testing.T, act operator.Server, dir string) (details []string) {
	t.Helper()
	if _, err := operator.Query(t.Context(), act, operator.GetAuditHead); err != nil { // which writes what is in memory
		t.Fatal(err)
	}
	if err := audit.Read(owner.AuditPath(dir), func(_ []byte, e audit.Entry) bool {
		about, ok := strings.CutPrefix(e.Detail, "API keys: ")
		if !ok {
			return true
		}
		if e.Kind != audit.Changed || e.Agent != "operator" {
			t.Errorf("%+v is not an operator's change", e)
		}
		details = append(details, about)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return details
}

func annKey(t *testing.T, act operator.Server) operator.IssuedKey {
	t.Helper()
	issued, err := operator.Call(t.Context(), act, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"notes"}, Rights: []memory.Right{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	return issued
}

func TestEachActOnAPIKeysIsRecordedWithWhatItChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, act, _ := server.Run(t, host.Options{Dir: dir})
	issued := annKey(t, act)
	id := operator.KeyID{ID: issued.ID}
	key := `{"id":"` + issued.ID + `","agent":"ann","namespaces":["notes"],"rights":["read"],`
	limits := func(concurrent int) string {
		return fmt.Sprintf(`{"calls_per_second":1000,"burst":5000,"concurrent":%d,"body_bytes":16777216`, concurrent)
	}
	for _, step := range []struct {
		do    func() error
		wants [2]string // how the entry begins, and what it has
	}{
		{func() error {
			_, err := operator.Call(t.Context(), act, operator.LimitKeys, operator.KeyLimits{Concurrent: 3})
			return err
		}, [2]string{`limit all {"before":` + limits(256) + `},"after":` + limits(3) + `,"set":{"concurrent":3}}}`}},
		{func() error {
			_, err := operator.Call(t.Context(), act, operator.LimitKeys, operator.KeyLimits{Concurrent: 5})
			return err
		}, [2]string{`limit all {"before":` + limits(3) + `,"set":{"concurrent":3}},"after":` + limits(5) + `,"set":{"concurrent":5}}}`}},
		{func() error {
			_, err := operator.Call(t.Context(), act, operator.LimitKeys, operator.KeyLimits{CallsPerSecond: 1000, Burst: 5000, Concurrent: 6, BodyBytes: 16 << 20})
			return err
		}, [2]string{`limit all {"before":` + limits(5) + `,"set":{"concurrent":5}},"after":` + limits(6) + `}}`}},
		{func() error { _, err := operator.Call(t.Context(), act, operator.RevokeKey, id); return err }, [2]string{"revoke " + key, `"created":`}},
		{func() error { _, err := operator.Call(t.Context(), act, operator.DeleteKey, id); return err }, [2]string{"delete " + key, `"revoked":`}},
		{func() error { return h.RequireKeys(true) }, [2]string{`require {"before":false,`, `"after":true}`}},
	} {
		before := len(keyEntries(t, act, dir))
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		list := keyEntries(t, act, dir)
		if len(list) != before+1 || !strings.HasPrefix(list[before], step.wants[0]) || !strings.Contains(list[before], step.wants[1]) {
			t.Errorf("recorded %q, not one that begins with %s and has %s", list[before:], step.wants[0], step.wants[1])
		}
	}
	if err := h.RequireKeys(true); err != nil {
		t.Fatal(err)
	}
	if list := keyEntries(t, act, dir); len(list) != 8 || strings.Contains(strings.Join(list, ""), issued.Secret) {
		t.Errorf("what changes nothing is recorded, or a secret: %q", list)
	}
}

func TestAnActOnAPIKeysThatFailsIsRecordedAsFailed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, act, _ := server.Run(t, host.Options{Dir: dir})
	unknown := operator.KeyID{ID: "nobody"}
	for _, step := range []struct {
		do    func() error
		wants [2]string // how the entries begin
	}{
		{func() error {
			_, err := operator.Call(t.Context(), act, operator.CreateKey, operator.KeyRequest{Agent: "ann"})
			return err
		}, [2]string{`create {"agent":"ann"`, `create failed "create a key: `}},
		{func() error {
			_, err := operator.Call(t.Context(), act, operator.LimitKeys, operator.KeyLimits{Concurrent: -1})
			return err
		}, [2]string{`limit all {"before":`, `limit all failed "-1 concurrent calls`}},
		{func() error { _, err := operator.Call(t.Context(), act, operator.RevokeKey, unknown); return err }, [2]string{`revoke "nobody"`, `revoke failed "revoke a key: there is no key`}},
		{func() error { _, err := operator.Call(t.Context(), act, operator.DeleteKey, unknown); return err }, [2]string{`delete "nobody"`, `delete failed "delete a key: there is no key`}},
	} {
		before := len(keyEntries(t, act, dir))
		if err := step.do(); err == nil {
			t.Errorf("%s did not fail", step.wants[0])
		}
		list := keyEntries(t, act, dir)[before:]
		if len(list) != 2 || !strings.HasPrefix(list[0], step.wants[0]) || !strings.HasPrefix(list[1], step.wants[1]) {
			t.Errorf("recorded %q, not %q", list, step.wants)
		}
	}
}

func TestAPIKeysAreNotChangedWithoutARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, act, _ := server.Run(t, host.Options{Dir: dir})
	issued := annKey(t, act)
	before, err := os.ReadFile(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(dir, "elsewhere")
	must.Do(t, os.Rename(owner.AuditPath(dir), moved))
	for act, err := range map[string]error{
		"create":  second(operator.Call(t.Context(), act, operator.CreateKey, operator.KeyRequest{Agent: "bob", Namespaces: []string{"*"}, Rights: []memory.Right{"read"}})),
		"limit":   second(operator.Call(t.Context(), act, operator.LimitKeys, operator.KeyLimits{Concurrent: 3})),
		"revoke":  second(operator.Call(t.Context(), act, operator.RevokeKey, operator.KeyID{ID: issued.ID})),
		"delete":  second(operator.Call(t.Context(), act, operator.DeleteKey, operator.KeyID{ID: issued.ID})),
		"require": h.RequireKeys(true),
	} {
		if err == nil || !strings.Contains(err.Error(), "the audit log could not record it") {
			t.Errorf("%s: %v, want the error that the audit log could not record it", act, err)
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "keys.json")); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the keys were changed: %s, %v", after, err)
	}
	must.Do(t, os.Rename(moved, owner.AuditPath(dir))) // for what is recorded when the server ends
}

func second[T any](_ T, err error) error { return err }
