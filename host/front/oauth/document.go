package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Limits of the documents of clients, which anybody may have the server read.
const (
	longestDocument = 16 << 10 // bytes
	fetchWithin     = 5 * time.Second
	mostFetches     = 8 // at once
	fetchesAMinute  = 60
	mostDocuments   = 256 // that are kept
	keptFor         = 15 * time.Minute
	failedFor       = time.Minute
)

// documents are the documents that describe clients, by the URL that is the client's id
// (draft-ietf-oauth-client-id-metadata-document).
type documents struct {
	fetch *http.Client
	clock func() time.Time
	slots chan struct{}

	mu      sync.Mutex
	kept    map[string]document
	minute  time.Time // in which the fetches are counted
	fetches int
}

// document is a client, or why there is none, until it is read again.
type document struct {
	client client
	err    error
	until  time.Time
}

func newDocuments(fetch *http.Client, clock func() time.Time) *documents {
	return &documents{fetch: fetch, clock: clock, slots: make(chan struct{}, mostFetches), kept: map[string]document{}}
}

// client returns the client whose id is the URL of a document.
func (d *documents) client(ctx context.Context, id string) (client, error) {
	if err := checkID(id); err != nil {
		return client{}, err
	}
	d.mu.Lock()
	found, ok := d.kept[id]
	d.mu.Unlock()
	if ok && d.clock().Before(found.until) {
		return found.client, found.err
	}
	if err := d.admit(); err != nil {
		return client{}, err
	}
	defer func() { <-d.slots }()
	c, err := d.read(ctx, id)
	d.keep(id, document{client: c, err: err})
	return c, err
}

// admit returns why no document is read now. Otherwise it takes a slot.
func (d *documents) admit() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.clock(); now.Sub(d.minute) >= time.Minute || now.Before(d.minute) {
		d.minute, d.fetches = now, 0
	}
	if d.fetches >= fetchesAMinute {
		return fmt.Errorf("the server read %d documents of clients within a minute, which is the limit: try again in a minute", fetchesAMinute)
	}
	select {
	case d.slots <- struct{}{}:
		d.fetches++
		return nil
	default:
		return fmt.Errorf("the server reads %d documents of clients at once, which is the limit: try again later", mostFetches)
	}
}

// keep keeps what was read, in place of what is past, and of any other if there is no room.
func (d *documents) keep(id string, read document) {
	now := d.clock()
	read.until = now.Add(keptFor)
	if read.err != nil {
		read.until = now.Add(failedFor)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for other, each := range d.kept {
		if len(d.kept) >= mostDocuments || !now.Before(each.until) {
			delete(d.kept, other)
		}
	}
	d.kept[id] = read
}

// checkID returns why an id is not the URL of a client's document.
func checkID(id string) error {
	bad := func(why string) error { return fmt.Errorf("the client %.200q %s", id, why) }
	u, err := url.Parse(id)
	switch {
	case err != nil, u.Scheme != "https" || u.Host == "":
		return bad("is not known here: clients are named by the https URL of their metadata")
	case u.User != nil, strings.Contains(id, "#"):
		return bad("has a user's name or a fragment in its URL")
	case u.Path == "" || u.Path == "/":
		return bad("has no path in its URL, which names the document")
	case strings.Contains(u.Path, "/.") && hasDots(u.Path):
		return bad("has . or .. in the path of its URL")
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad("must have the name of a host in its URL, in ASCII")
	}
	return nil
}

func hasDots(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

// read fetches the document of a client. What it answers with tells nothing of the network.
func (d *documents) read(ctx context.Context, id string) (client, error) {
	unreadable := errors.New("the client's metadata cannot be read at " + id)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchWithin) // others may wait for it, too
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return client{}, unreadable
	}
	r.Header.Set("Accept", "application/json")
	answer, err := d.fetch.Do(r)
	if err != nil {
		return client{}, unreadable
	}
	defer answer.Body.Close()
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.StatusCode != http.StatusOK:
		return client{}, fmt.Errorf("%w: it is answered with status %d, and redirects are not followed", unreadable, answer.StatusCode)
	case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return client{}, fmt.Errorf("%w: it is not JSON", unreadable)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, longestDocument+1))
	switch {
	case err != nil:
		return client{}, unreadable
	case len(body) > longestDocument:
		return client{}, fmt.Errorf("%w: it has more than %d bytes", unreadable, longestDocument)
	}
	return readDocument(id, body)
}

// readDocument returns the client that a document describes.
func readDocument(id string, body []byte) (client, error) {
	var read described
	if err := json.Unmarshal(body, &read); err != nil {
		return client{}, errors.New("the client's metadata is not a JSON object with members of RFC 7591")
	}
	if read.ID != id {
		return client{}, fmt.Errorf("the client's metadata has the client_id %.200q, and not the URL at which it is", read.ID)
	}
	if method := read.Authentication; method != "" && method != "none" {
		return client{}, fmt.Errorf("the client's metadata wants the authentication %.40q: clients here have none, and use PKCE", method)
	}
	return read.of(id)
}

// isPrintable reports whether a character of a name shows itself, and steers nothing.
func isPrintable(r rune) bool { return unicode.IsPrint(r) }
