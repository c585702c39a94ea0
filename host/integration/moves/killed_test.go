//go:build unix

package moves_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bundle"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// child is a server in a process of its own.
type child struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	said  bytes.Buffer
	ended chan struct{}
}

// launch starts a server of a data directory, which is killed at a step of a move; empty: at none.
func launch(t *testing.T, dir, store, step string) *child {
	t.Helper()
	c := &child{t: t, dir: dir, cmd: exec.Command(must.Get(os.Executable())), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childDir+"="+dir, childStore+"="+store, childStep+"="+step)
	c.cmd.Stderr = &c.said
	must.Do(t, c.cmd.Start())
	go func() {
		_ = c.cmd.Wait()
		close(c.ended)
	}()
	t.Cleanup(c.stop)
	c.awaitServing()
	return c
}

func (c *child) awaitServing() {
	c.t.Helper()
	await.That(c.t, "the server serves", func() bool {
		select {
		case <-c.ended:
			c.t.Fatalf("the server ended: %s", c.said.String())
		default:
		}
		r, err := owner.ReadRecord(c.dir)
		return err == nil && r.PID == c.cmd.Process.Pid
	})
}

func (c *child) stop() {
	_ = c.cmd.Process.Signal(os.Interrupt)
	<-c.ended
}

// move has a server move its store, and waits until it has ended or the store was moved or not.
func (c *child) move(r operator.MoveStoreRequest) (ended operator.MoveEnded) {
	c.t.Helper()
	begun, err := operator.Call(context.Background(), server.Operator(c.t, c.dir), operator.MoveStore, r)
	if err != nil {
		select {
		case <-c.ended:
		default:
			await.That(c.t, "the server ended, or said why it does not move: "+err.Error(), func() bool {
				select {
				case <-c.ended:
					return true
				default:
					return false
				}
			})
		}
		return ended
	}
	await.That(c.t, "the move ended, or the server", func() bool {
		select {
		case <-c.ended:
			return true
		default:
		}
		ended, err = operator.Call(context.Background(), server.Operator(c.t, c.dir), operator.GetMove, operator.None{})
		return err == nil && ended.Move == begun.Move
	})
	return ended
}

// contents opens the store of a data directory that nobody serves, and returns its bundle.
func contents(t *testing.T, dir string, given store.Driver) (where string, data []byte) {
	t.Helper()
	lock := must.Get(owner.AcquireLock(dir))
	defer lock.Close()
	d, err := space.Locate(t.Context(), dir, given)
	if err != nil {
		t.Fatalf("find the store: %v", err)
	}
	e, err := d.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	var b bytes.Buffer
	must.Get(bundle.Write(t.Context(), &b, e.(store.PortableEngine), 0, nil))
	must.Do(t, e.Close())
	if _, database := d.(store.Deciding); database {
		return "database", b.Bytes()
	}
	return "directory", b.Bytes()
}

// inDatabase returns how many spaces of a name can be opened in a database.
func inDatabase(t *testing.T, url, name string) (n int) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), url))
	defer c.Close(context.Background())
	if err := c.QueryRow(t.Context(), `SELECT count(*) FROM alcove.names JOIN alcove.spaces USING (space) WHERE name = $1 AND departed = ''`, name).Scan(&n); err != nil && !strings.Contains(err.Error(), "does not exist") {
		t.Fatalf("count the spaces: %v", err)
	}
	return n
}

// fill makes a data directory with memories, branches, events and a key.
func fill(t *testing.T, o host.Options) {
	t.Helper()
	h, acts, stop := server.Run(t, o)
	for i := range 200 {
		server.Remember(t, h, fmt.Sprintf("walnut %d", i))
	}
	must.Get(operator.Call(t.Context(), acts, operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"*"}}))
	stop()
}

// steps are those of a move, in order.
func steps(toDatabase bool) []string {
	all := []string{"begun", "staged", "copied", "held", "finished"}
	if toDatabase {
		return append(all, "documents", "pending", "decided", "recorded", "done")
	}
	return append(all, "pending", "decided", "placed", "recorded", "done")
}

// TestAMoveThatIsKilledLeavesOneSideWhole kills the server at each step of a move to a database, and then of the move back.
func TestAMoveThatIsKilledLeavesOneSideWhole(t *testing.T) {
	t.Parallel()
	url := must.Get(postgres.Start(t).Database())
	dir := t.TempDir()
	fill(t, host.Options{Dir: dir, Driver: space.DefaultDriver()})
	_, want := contents(t, dir, space.DefaultDriver())
	for _, way := range []struct {
		to, from string
		request  operator.MoveStoreRequest
	}{
		{"database", "directory", operator.MoveStoreRequest{Store: url}},
		{"directory", "database", operator.MoveStoreRequest{Store: space.InDirectory}},
	} {
		for _, step := range steps(way.to == "database") {
			c := launch(t, dir, "", step)
			c.move(way.request)
			<-c.ended
			where, got := contents(t, dir, space.DefaultDriver())
			if !bytes.Equal(got, want) {
				t.Fatalf("killed at %q on the way to a %s: got a store in the %s with a bundle of %d bytes, want the %d from before", step, way.to, where, len(got), len(want))
			}
			if n, one := inDatabase(t, url, "default"), where == "database"; (n == 1) != one {
				t.Fatalf("killed at %q on the way to a %s: got the store in the %s and %d in the database, want one that can be opened", step, way.to, where, n)
			}
			if where == way.to { // it was decided: back, for the next step
				if step != "decided" && step != "placed" && step != "recorded" && step != "done" {
					t.Errorf("killed at %q on the way to a %s: got it there, want it where it was", step, way.to)
				}
				back := operator.MoveStoreRequest{Store: space.InDirectory}
				if way.from == "database" {
					back = operator.MoveStoreRequest{Store: url}
				}
				movesWholly(t, dir, back, want)
			} else if step == "decided" || step == "recorded" || step == "done" || step == "placed" {
				t.Errorf("killed at %q on the way to a %s: got it where it was, want it there", step, way.to)
			}
		}
		movesWholly(t, dir, way.request, want)
	}
}

// movesWholly moves the store of a directory, and verifies that it is the same and that the other side refuses.
func movesWholly(t *testing.T, dir string, to operator.MoveStoreRequest, want []byte) {
	t.Helper()
	c := launch(t, dir, "", "")
	ended := c.move(to)
	if ended.Move == "" || ended.Error != "" {
		t.Fatalf("move to %+v: got %+v, want that it was moved; the server said: %s", to, ended, c.said.String())
	}
	c.stop()
	where, got := contents(t, dir, space.DefaultDriver())
	if !bytes.Equal(got, want) {
		t.Fatalf("moved to a %s: got a bundle of %d bytes, want the %d from before", where, len(got), len(want))
	}
	if where == "database" {
		if _, err := space.Open(t.Context(), host.Options{Dir: dir}, space.Environment{Dormant: true}, &space.Closers{}); !errors.As(err, new(*store.DepartedError)) {
			t.Errorf("open the side that was left: got %v, want a DepartedError", err)
		}
	}
}
