//go:build unix

package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/postgres"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// naiveStore is the environment variable with the URL of the database of a naive leader.
const naiveStore = "ALCOVE_TEST_NAIVE"

// naive leads a space, and writes at every line that it reads, whatever time it is. It says how that ended.
func naive(url string, in io.Reader, out io.Writer) error {
	ctx := context.Background()
	d, err := postgres.New(url, postgres.Options{})
	if err != nil {
		return err
	}
	table, err := d.Servers(ctx)
	if err != nil {
		return err
	}
	_, err = table.Renew(ctx, store.Server{ID: "naive", Address: "10.0.0.1:1"}, time.Second)
	if err == nil {
		_, err = table.Lead(ctx, d.Space(), "naive")
	}
	if err != nil {
		return err
	}
	e, err := d.Open(ctx, os.TempDir(), store.Options{Server: "naive"})
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch err := put(ctx, e, "k", lines.Text()); {
		case errors.Is(err, store.ErrFenced):
			fmt.Fprintln(out, "fenced")
		case err != nil:
			fmt.Fprintln(out, err)
		default:
			fmt.Fprintln(out, "written")
		}
	}
	return nil
}

// runNaive is the naive leader, if this process is to be one.
func runNaive() {
	url := os.Getenv(naiveStore)
	if url == "" {
		return
	}
	if err := naive(url, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// The clock of a leader stands still until another one has its lease. When it goes on, nothing was written meanwhile, and it looks at no
// clock: the epoch alone keeps it from writing.
func TestALeaderThatSleptThroughItsLeaseCanWriteNothing(t *testing.T) {
	ctx, url := t.Context(), database(t)
	stale := exec.Command(must.Get(os.Executable()))
	stale.Env, stale.Stderr = append(os.Environ(), naiveStore+"="+url), os.Stderr
	in, out := must.Get(stale.StdinPipe()), must.Get(stale.StdoutPipe())
	must.Do(t, stale.Start())
	t.Cleanup(func() {
		_ = stale.Process.Kill()
		_ = stale.Wait()
	})
	said := bufio.NewReader(out)
	write := func(value string) string {
		t.Helper()
		must.Get(fmt.Fprintln(in, value))
		return strings.TrimSpace(must.Get(said.ReadString('\n')))
	}
	if got := write("1"); got != "written" {
		t.Fatalf("while it leads: got %q, want that it was written", got)
	}
	must.Do(t, stale.Process.Signal(syscall.SIGSTOP))
	d := driver(t, url)
	table := servers(t, d)
	must.Get(table.Renew(ctx, store.Server{ID: "next", Address: "10.0.0.2:1"}, long))
	await.That(t, "the lease is over", func() bool { return must.Get(table.Lead(ctx, d.Space(), "next")).Server == "next" })
	next := open(t, d, t.TempDir(), store.Options{Server: "next"})
	defer next.Close()
	must.Do(t, stale.Process.Signal(syscall.SIGCONT))
	if got := write("stale"); got != "fenced" {
		t.Errorf("after its lease: got %q, want that it was refused", got)
	}
	if got := get(t, next, "k"); got != "1" {
		t.Errorf("the next leader has %q, want 1", got)
	}
	if err := put(ctx, next, "k", "2"); err != nil {
		t.Errorf("the next leader's write: got %v, want none", err)
	}
	if list, _, err := next.Versions(ctx, store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{}, "", 10); err != nil || len(list) != 2 {
		t.Errorf("got %d versions (%v), want 2", len(list), err)
	}
}
