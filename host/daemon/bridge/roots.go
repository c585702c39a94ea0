package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

const (
	methodRoots  = "roots/list"
	rootsChanged = "notifications/roots/list_changed"
	rootsID      = "alcove-bridge-roots-" // begins the ids of the bridge's questions
)

// Limits of a client's roots.
const (
	longestRoots = 1 << 20 // bytes of the answer that lists them
	mostRoots    = 1000
	longestRoot  = 4 << 10 // bytes of a URI
)

// roots is what the bridge asked its client of the folders that it works in. The goroutine that reads the client's messages uses it.
type roots struct {
	known bool   // the client has the capability
	asked int    // questions so far
	open  string // the id of the question that waits for its answer; empty: none does
	again bool   // they changed since
}

// offered notes whether a client that initializes knows roots.
func (r *roots) offered(m jsonrpc.Message) {
	capability := m.Field(m.Field(m.Params, "capabilities"), "roots").Of(m.Line)
	r.known = len(capability) > 0 && capability[0] == '{'
}

// askRoots asks the client for its roots, one question at a time.
func (b *bridge) askRoots() {
	switch r := &b.roots; {
	case b.ProjectOf == nil || !r.known:
	case r.open != "":
		r.again = true
	default:
		r.asked++
		r.open, r.again = fmt.Sprintf("%s%d", rootsID, r.asked), false
		b.emit(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"method":%q}`+"\n", r.open, methodRoots))
	}
}

// isRoots reports whether a message answers the question for roots.
func (b *bridge) isRoots(m jsonrpc.Message) bool {
	return b.roots.open != "" && m.IsAnswer() && string(m.RawID()) == strconv.Quote(b.roots.open)
}

// takeRoots has the session go on in the project of the client's first folder.
func (b *bridge) takeRoots(ctx context.Context, m jsonrpc.Message) {
	if b.roots.open = ""; b.roots.again {
		b.askRoots()
		return
	}
	folder, err := firstFolder(m)
	if err != nil {
		b.Logger.Warn("the client's roots are not used", "error", err)
	}
	if folder != "" && b.pending.enter(b.ProjectOf(folder)) {
		b.reconnect(ctx)
	}
}

// reconnect connects again, in the state in which the session is.
func (b *bridge) reconnect(ctx context.Context) {
	b.send.Lock()
	defer b.send.Unlock()
	if b.conn == nil {
		return // the next connection begins in it
	}
	b.conn.Close()
	b.conn = nil
	b.revive(ctx)
}

// firstFolder is the first root that is a folder; empty: none is.
func firstFolder(m jsonrpc.Message) (string, error) {
	if m.Failed() {
		return "", fmt.Errorf("it answered %.200s", m.Error.Of(m.Line))
	}
	if len(m.Line) > longestRoots {
		return "", fmt.Errorf("the list of roots has %d bytes: at most %d are read", len(m.Line), longestRoots)
	}
	var list struct {
		Roots []struct {
			URI string `json:"uri"`
		} `json:"roots"`
	}
	if err := json.Unmarshal(m.Result.Of(m.Line), &list); err != nil {
		return "", fmt.Errorf("read the list of roots: %w", err)
	}
	if len(list.Roots) > mostRoots {
		return "", fmt.Errorf("there are %d roots: at most %d are read", len(list.Roots), mostRoots)
	}
	var first error
	for _, root := range list.Roots {
		folder, err := folderOf(root.URI, runtime.GOOS == "windows")
		if err == nil {
			return folder, nil
		}
		first = cmp.Or(first, err)
	}
	return "", first
}

// folderOf is the absolute path that a file URI names.
func folderOf(uri string, isWindows bool) (string, error) {
	if len(uri) > longestRoot {
		return "", fmt.Errorf("a root's URI has %d bytes: at most %d are read", len(uri), longestRoot)
	}
	u, err := url.Parse(uri)
	if err != nil {
		return "", fmt.Errorf("the root %.60q is not a URI", uri)
	}
	path := u.Path
	if isWindows { // file:///C:/code
		path = strings.TrimPrefix(path, "/")
	}
	isLocal := strings.EqualFold(u.Scheme, "file") && (u.Host == "" || strings.EqualFold(u.Host, "localhost")) && u.RawQuery == "" && u.Opaque == ""
	if !isLocal || path == "" || !utf8.ValidString(path) || strings.ContainsRune(path, 0) || !isWindows && !filepath.IsAbs(path) {
		return "", fmt.Errorf("the root %.60q is not a folder of this machine: a file: URI with an absolute path would be", uri)
	}
	return filepath.Clean(filepath.FromSlash(path)), nil
}
