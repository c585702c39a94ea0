package operators

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func TestAnOperatorEntersUntilTheKeyExpiresOrIsRevoked(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	o := &Operators{Path: filepath.Join(t.TempDir(), "operators.json"), Clock: clock.Now, Write: write}
	made, secret, err := o.Create(Operator{Name: "ann", Role: "viewer", Expires: clock.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := o.Enter(secret); err != nil || got != made {
		t.Errorf("Enter = %+v, %v, want %+v", got, err, made)
	}
	data, err := os.ReadFile(o.Path)
	if err != nil || strings.Contains(string(data), secret) {
		t.Errorf("the file has the secret, or cannot be read: %v", err)
	}
	for _, wrong := range []string{"", "alcove_operator_", secret + "x", strings.TrimPrefix(secret, prefix)} {
		if _, err := o.Enter(wrong); !errors.Is(err, ErrUnknown) {
			t.Errorf("Enter(%q) = %v, want that it is nobody's", wrong, err)
		}
	}
	clock.Add(time.Hour)
	if _, err := o.Enter(secret); !errors.Is(err, ErrExpired) {
		t.Errorf("an hour later: %v, want that it expired", err)
	}
	if _, _, err := o.Create(Operator{Name: "ann"}); err == nil {
		t.Error("a second key of the same name is made")
	}
	if _, err := o.Revoke("ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Enter(secret); !errors.Is(err, ErrUnknown) {
		t.Errorf("revoked: %v, want that it is nobody's", err)
	}
	if list, err := o.List(); err != nil || len(list) != 0 {
		t.Errorf("List = %+v, %v, want none", list, err)
	}
}

func TestTooManyAndOddOperatorsAreRefused(t *testing.T) {
	o := &Operators{Path: filepath.Join(t.TempDir(), "operators.json"), Clock: time.Now, Write: write}
	for _, name := range []string{"", "a b", "-a", strings.Repeat("a", 65), "a\x1b"} {
		if _, _, err := o.Create(Operator{Name: name}); err == nil || !strings.Contains(err.Error(), "64 letters") {
			t.Errorf("the name %q: %v, want what a name can be", name, err)
		}
	}
	if err := o.change(func(f *file) error { f.Operators = make([]kept, most); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.Create(Operator{Name: "one"}); err == nil || !strings.Contains(err.Error(), "1000 operators") {
		t.Errorf("beyond the limit: %v, want an error that names it", err)
	}
	if err := os.WriteFile(o.Path, []byte(`{"version":1,"operators":[],"more":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Enter(prefix + "x"); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("with a file of another form: %v, want an error that names it", err)
	}
}

func write(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }
