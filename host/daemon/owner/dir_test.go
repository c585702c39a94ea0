//go:build unix

package owner

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADirectoryIsJudgedByWhoCanChangeIt(t *testing.T) {
	for _, c := range []struct {
		mode, above fs.FileMode
		sharing     Sharing
		refused     bool
		warning     string
	}{
		{mode: 0o700, above: 0o755},
		{mode: 0o755, above: 0o755},
		{mode: 0o500, above: 0o755},
		{mode: 0o777, above: 0o755, refused: true},
		{mode: 0o702, above: 0o755, refused: true, sharing: Sharing{Group: true}},
		{mode: 0o777 | fs.ModeSticky, above: 0o755, refused: true},
		{mode: 0o770, above: 0o755, warning: "chmod g-w"},
		{mode: 0o770, above: 0o755, sharing: Sharing{Group: true}},
		{mode: 0o700, above: 0o777, warning: "chmod o-w"},
		{mode: 0o700, above: 0o777 | fs.ModeSticky},
		{mode: 0o700, above: 0o775},
	} {
		above := filepath.Join(t.TempDir(), "above")
		dir := filepath.Join(above, "data")
		err := os.MkdirAll(dir, 0o700)
		if err = errors.Join(err, os.Chmod(dir, c.mode), os.Chmod(above, c.above)); err != nil {
			t.Fatal(err)
		}
		warnings, err := c.sharing.CheckDir(dir)
		var exposed *ExposedError
		if errors.As(err, &exposed) != c.refused || err != nil && (!c.refused || !strings.Contains(err.Error(), "chmod 700 "+`"`+dir)) {
			t.Errorf("%v in %v: refused with %v", c.mode, c.above, err)
		}
		if said := strings.Join(warnings, "; "); (said == "") != (c.warning == "") || !strings.Contains(said, c.warning) {
			t.Errorf("%v in %v: warned of %q", c.mode, c.above, said)
		}
	}
	if warnings, err := (Sharing{}).CheckDir(filepath.Join(t.TempDir(), "missing")); err != nil || len(warnings) > 0 {
		t.Errorf("one that is missing: %v, %v", warnings, err)
	}
}

func TestAClientDoesNotConnectInADirectoryThatOthersCanChange(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, welcomeAll)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var exposed *ExposedError
	if _, err := Dial(t.Context(), Options{Dir: dir}); !errors.As(err, &exposed) {
		t.Errorf("connected: %v", err)
	}
}

func TestASocketInADirectoryThatOthersCanChangeIsNotUsed(t *testing.T) {
	elsewhere, dir := t.TempDir(), t.TempDir()
	serve(t, elsewhere, welcomeAll)
	socket, err := SocketPath(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteRecord(dir, Record{PID: 7, Socket: socket, Admin: socket}); err != nil {
		t.Fatal(err)
	}
	mustDial(t, Options{Dir: dir})
	if err := os.Chmod(elsewhere, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrNone) {
		t.Errorf("connected: %v", err)
	}
	if err := checkSocketDir(socket); !errors.Is(err, ErrUntrusted) {
		t.Errorf("its directory: %v", err)
	}
}

func TestPeersAreThisUserOrRoot(t *testing.T) {
	for _, c := range []struct {
		self, peer int
		taken      bool
	}{{1000, 1000, true}, {1000, 0, true}, {0, 1000, true}, {1000, 1001, false}, {1000, 65534, false}} {
		if got := takesPeer(c.self, c.peer); got != c.taken {
			t.Errorf("user %d takes a peer of user %d: %v", c.self, c.peer, got)
		}
	}
}

func TestTheRecordOfAnotherOwnerIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := Record{PID: 7, Socket: "/s"}, Record{PID: 8, Socket: "/t"}
	if err := WriteRecord(dir, theirs); err != nil {
		t.Fatal(err)
	}
	if err := RemoveRecord(dir, ours); err != nil {
		t.Error(err)
	}
	if r, err := ReadRecord(dir); err != nil || r != theirs {
		t.Errorf("the record is %+v (%v)", r, err)
	}
	if err := RemoveRecord(dir, theirs); err != nil {
		t.Error(err)
	}
	if _, err := ReadRecord(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the record is still there: %v", err)
	}
}

func TestARecordWithoutTheOperatorsSocketLeadsToTheUsualPlace(t *testing.T) {
	dir := t.TempDir()
	path, err := AdminPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			conn.Close()
		}
	}()
	if err := WriteRecord(dir, Record{PID: 7, Socket: filepath.Join(dir, "alcove.sock")}); err != nil {
		t.Fatal(err)
	}
	conn, err := DialOperator(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}
