package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// rooted runs a bridge whose sessions begin in the project "begun", and a folder's project is its path.
func rooted(t *testing.T, owners ...owner) *client {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{t: t, in: inWrite, out: bufio.NewReaderSize(outRead, 1<<20), ended: make(chan error, 1), cancel: cancel}
	go func() {
		c.ended <- Run(ctx, Options{In: inRead, Out: outWrite, Project: "begun", ProjectOf: func(folder string) string { return "of " + folder },
			Dial: func(_ context.Context, at SessionState) (io.ReadWriteCloser, error) { return c.dial(owners, at) }})
		outWrite.Close()
	}()
	t.Cleanup(func() { cancel(); inWrite.Close(); outRead.Close() })
	return c
}

func (c *client) begin(capabilities string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":%s}}`, capabilities)
	c.expect(`"id":0`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) roots(n int, uris ...string) {
	c.t.Helper()
	c.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":"alcove-bridge-roots-%d","method":"roots/list"}`, n))
	c.send(`{"jsonrpc":"2.0","id":"alcove-bridge-roots-%d","result":{"roots":[%s]}}`, n, `{"uri":"`+strings.Join(uris, `"},{"uri":"`)+`"}`)
}

// projects are the projects of the dials, of which the first is of no matter.
func (c *client) projects() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.dials {
		if at.Project == nil {
			list = append(list, "as begun")
		} else {
			list = append(list, *at.Project)
		}
	}
	return list
}

func TestASessionGoesOnInTheProjectOfTheClientsFirstRoot(t *testing.T) {
	var heard []string
	c := rooted(t, func(m jsonrpc.Message) []byte {
		if m.IsAnswer() {
			heard = append(heard, "an answer to the bridge's question")
		}
		return ok(m)
	})
	c.begin(`{"roots":{"listChanged":true}}`)
	c.roots(1, "https://example.com/code", "file:///code/app%20one", "file:///code/other")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.expect(`"id":1`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	c.roots(2, "file://localhost/code/other")
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	c.roots(3, "file:///code/other/")
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	c.expect(`"id":2`)
	if err := c.end(); err != nil || len(heard) > 0 {
		t.Errorf("the bridge ended with %v, and the owner heard %q", err, heard)
	}
	if got, want := strings.Join(c.projects(), ", "), "as begun, of /code/app one, of /code/other"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRootsThatAreNoFoldersOrTooManyChangeNothing(t *testing.T) {
	long := "file:///" + strings.Repeat("a", longestRoot)
	for name, answer := range map[string]string{
		"none": `"result":{"roots":[]}`, "an error": `"error":{"code":-32601,"message":"no"}`, "no object": `"result":[1]`,
		"no file":  `"result":{"roots":[{"uri":"http://a/b"},{"uri":"file:a"},{"uri":"file://host/a"},{"uri":"file:///a%00b"},{"uri":":"},{"uri":"file:///a?b"}]}`,
		"too long": `"result":{"roots":[{"uri":"` + long + `"}]}`,
		"too many": `"result":{"roots":[{"uri":"file:///a"}` + strings.Repeat(`,{"uri":"file:///b"}`, mostRoots) + `]}`,
		"too big":  `"result":{"roots":[{"uri":"file:///a","name":"` + strings.Repeat("n", longestRoots) + `"}]}`,
	} {
		c := rooted(t, ok)
		c.begin(`{"roots":{}}`)
		c.expect(methodRoots)
		c.send(`{"jsonrpc":"2.0","id":"alcove-bridge-roots-1",%s}`, answer)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		c.expect(`"id":1`)
		c.end()
		if got := c.projects(); len(got) != 1 {
			t.Errorf("%s: got the projects %q, want that of the beginning", name, got)
		}
	}
}

func TestAClientThatKnowsNoRootsIsNotAsked(t *testing.T) {
	for _, capabilities := range []string{`{}`, `{"roots":null}`, `[]`, `{"sampling":{"roots":{}}}`} {
		c := rooted(t, ok)
		c.begin(capabilities)
		c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		c.expect(`"id":1`)
		c.end()
	}
}

func TestARequestThatRunsWhileRootsChangeIsAnsweredOnce(t *testing.T) {
	begun, calls := make(chan bool), 0
	c := rooted(t, func(m jsonrpc.Message) []byte {
		if m.Method == "tools/call" {
			close(begun)
			return []byte{} // and no answer on this connection
		}
		return ok(m)
	}, func(m jsonrpc.Message) []byte {
		if m.Method == "tools/call" {
			calls++
		}
		return ok(m)
	})
	c.begin(`{"roots":{}}`)
	c.expect(methodRoots)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store"}}`)
	<-begun
	c.send(`{"jsonrpc":"2.0","id":"alcove-bridge-roots-1","result":{"roots":[{"uri":"file:///code"}]}}`)
	c.expect(`"id":1,"result"`)
	c.end()
	if calls != 1 {
		t.Errorf("the next owner got %d calls, want 1", calls)
	}
}

func TestARootOfWindowsIsAPathWithADrive(t *testing.T) {
	if got, err := folderOf("file:///C:/code/app", true); got != "C:/code/app" || err != nil {
		t.Errorf("got %q, %v, want C:/code/app", got, err)
	}
}

func FuzzRootsAreAbsolutePaths(f *testing.F) {
	for _, uri := range []string{"file:///a", "file://localhost/a/../b", "file:a", "http://a", "file:///%00", "file:////a", "FILE:///%2e%2e/a"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		folder, err := folderOf(uri, false)
		if (err == nil) != strings.HasPrefix(folder, "/") || strings.ContainsRune(folder, 0) || strings.Contains(folder, "/../") {
			t.Errorf("%q: got %q, %v, want an absolute path or an error", uri, folder, err)
		}
	})
}
