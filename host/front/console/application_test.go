package console_test

import (
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// actsOf are the acts that the application's sources name, each with whether it is asked for as one that changes nothing.
func actsOf(t *testing.T) map[string]bool {
	t.Helper()
	asked := regexp.MustCompile(`\b(look|act)(?:<[^(]*?>)?\(\s*'([a-z-]+)'`)
	acts := map[string]bool{}
	err := fs.WalkDir(os.DirFS("web/src"), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") {
			return err
		}
		text, err := os.ReadFile("web/src/" + path)
		for _, found := range asked.FindAllStringSubmatch(string(text), -1) {
			acts[found[2]] = acts[found[2]] || found[1] == "look"
		}
		return err
	})
	if err != nil || len(acts) < 10 {
		t.Fatalf("the application names %d acts, %v, want 10 or more", len(acts), err)
	}
	return acts
}

func TestEachActOfTheApplicationExistsAndIsConfirmedWhereItChangesSomething(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	for name, looks := range actsOf(t) {
		status, body := b.send("POST", "api/acts/"+name, `{"no such field":1}`) // no act is carried out
		switch {
		case status == http.StatusNotFound:
			t.Errorf("the application asks for the act %s, which does not exist", name)
		case looks && status == http.StatusForbidden && !previewed(name):
			t.Errorf("the application asks for the act %s as one that changes nothing, and is answered %s", name, body)
		}
	}
}

// previewed reports whether an act changes nothing if its request says so.
func previewed(act string) bool {
	return strings.Contains(" family-undo memories-move import family-configure trust ", " "+act+" ")
}
