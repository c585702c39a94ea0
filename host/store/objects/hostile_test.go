package objects_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/objects"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// answered returns how a restore ends from a server whose answers to requests for a kind of object are changed.
func (p place) answered(kind string, change func(*http.Response)) error {
	p.t.Helper()
	hostile := p.server.Proxy(p.t, nil, func(r *http.Response) error {
		if strings.Contains(r.Request.URL.String(), kind) {
			change(r)
		}
		return nil
	})
	_, err := p.restored(hostile.URL, time.Time{})
	return err
}

// body replaces an answer's body; without a length it is sent in chunks.
func body(r *http.Response, from io.Reader, length int64) {
	_ = r.Body.Close()
	r.Body, r.ContentLength = io.NopCloser(from), length
	r.Header.Del("Content-Length")
	if length >= 0 {
		r.Header.Set("Content-Length", fmt.Sprint(length))
	}
}

// endless has the same text again and again.
type endless struct{ text string }

func (e endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		n += copy(b[n:], e.text)
	}
	return n, nil
}

func TestAHostileServerIsBoundedAndNamed(t *testing.T) {
	p := newPlace(t)
	p.put("a", "1")
	part := p.full(p.server.URL)
	p.put("a", "2")
	second := p.increment(p.server.URL)
	content := func(name string) []byte {
		c := must.Get(p.at(p.server.URL).Chain(t.Context(), time.Time{}))
		for _, q := range c.Manifest.Parts {
			if q.File == name {
				return must.Get(io.ReadAll(must.Get(c.Open(t.Context(), q))))
			}
		}
		return nil
	}
	other := content(second.File)
	for name, c := range map[string]struct {
		kind   string
		change func(*http.Response)
		says   string
	}{
		"an endless part":     {part.File, func(r *http.Response) { body(r, endless{"x"}, -1) }, "and should have"},
		"an endless manifest": {backup.ManifestName, func(r *http.Response) { body(r, endless{" "}, -1) }, "has more than 16777216 bytes"},
		"an endless listing": {"list-type", func(r *http.Response) {
			body(r, io.MultiReader(strings.NewReader("<ListBucketResult>"), endless{" "}), -1)
		}, "has more than"},
		"a length that is a lie": {part.File, func(r *http.Response) { body(r, strings.NewReader("short"), 1<<40) }, "and should have"},
		"another key's content":  {part.File, func(r *http.Response) { body(r, bytes.NewReader(other), int64(len(other))) }, part.File},
		"a listing of other keys": {"list-type", func(r *http.Response) {
			text := listing("elsewhere/20260101T000000Z-00000000/")
			body(r, strings.NewReader(text), int64(len(text)))
		}, "the server names \"elsewhere/"},
		"a redirect": {part.File, func(r *http.Response) {
			r.StatusCode = http.StatusTemporaryRedirect
			r.Header.Set("Location", "http://elsewhere.example/x")
		}, "redirects to"},
		"no listing": {"list-type", func(r *http.Response) { body(r, strings.NewReader("hello"), 5) }, "list what is there"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := p.answered(c.kind, c.change); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("restore: %v, want an error that says %q", err, c.says)
			}
		})
	}
	p.restores("a=2")
}

func listing(prefix string) string {
	return `<ListBucketResult><Name>backups</Name><IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>` + prefix + `</Prefix></CommonPrefixes></ListBucketResult>`
}

func TestAListingWithoutEndEndsAtALimit(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>`, asked.Add(1))
	}))
	t.Cleanup(s.Close)
	b := must.Get(objects.Open(objects.Location{Bucket: "backups"}, objects.Options{Endpoint: s.URL, PathStyle: true, Credentials: objects.Credentials{ID: "a", Secret: "b"}}))
	_, err := b.List(t.Context())
	if err == nil || !strings.Contains(err.Error(), "more than 1000 requests") {
		t.Errorf("list: %v after %d requests, want an error that says that there were more than 1000", err, asked.Load())
	}
}

func TestNothingIsSentToWhereAServerRedirects(t *testing.T) {
	var elsewhere atomic.Int64
	to := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(to.Close)
	s := httptest.NewServer(http.RedirectHandler(to.URL, http.StatusMovedPermanently))
	t.Cleanup(s.Close)
	b := must.Get(objects.Open(objects.Location{Bucket: "backups"}, objects.Options{Endpoint: s.URL, PathStyle: true, Credentials: objects.Credentials{ID: "a", Secret: "b"}}))
	_, err := b.List(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nothing is sent elsewhere") || elsewhere.Load() != 0 {
		t.Errorf("list: %v, with %d requests elsewhere, want an error that says that nothing is sent elsewhere, and none", err, elsewhere.Load())
	}
}

func TestAConnectionThatBreaksIsGoneOnWith(t *testing.T) {
	p := newPlace(t)
	p.put("a", "1")
	p.large()
	part := p.full(p.server.URL)
	var broken atomic.Int64
	err := p.answered(part.File, func(r *http.Response) {
		if broken.Add(1) < 4 {
			length := r.ContentLength
			body(r, io.LimitReader(r.Body, 4<<20), length)
		}
	})
	if err != nil || broken.Load() != 4 {
		t.Errorf("restore: %v after %d connections, want none after 4", err, broken.Load())
	}
}

func TestRequestsToHaveTheServerEncryptAreSent(t *testing.T) {
	p := newPlace(t)
	p.put("a", "1")
	for encryption, want := range map[string]string{"aes256": "AES256", "kms:key-1": "aws:kms"} {
		var asked atomic.Value
		s := p.server.Proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			asked.Store(r.Header.Get("X-Amz-Server-Side-Encryption"))
			http.Error(w, "enough", http.StatusForbidden)
			return true
		}, nil)
		b := must.Get(objects.Open(objects.Location{Bucket: p.server.Bucket}, objects.Options{
			Endpoint: s.URL, PathStyle: true, Encryption: encryption, Credentials: objects.Credentials{ID: p.server.ID, Secret: p.server.Secret},
		}))
		if _, err := (objects.Writer{Bucket: b, Spool: t.TempDir()}).Full(t.Context(), p.source, time.Now()); err == nil || asked.Load() != want {
			t.Errorf("an upload with %s asked for %v (%v), want %s", encryption, asked.Load(), err, want)
		}
	}
}

func TestAServerThatDoesNotSayThatItEncryptsHasNoBackup(t *testing.T) {
	p := newPlace(t)
	p.put("a", "1")
	var says string
	s := p.server.Proxy(t, nil, func(r *http.Response) error {
		if says != "" && r.Request.Method == http.MethodHead {
			r.Header.Set("X-Amz-Server-Side-Encryption", says)
		}
		return nil
	})
	b := must.Get(objects.Open(must.Get(objects.ParseLocation("s3://"+p.server.Bucket+"/laptop")), objects.Options{
		Endpoint: s.URL, PathStyle: true, Encryption: "aes256", Credentials: objects.Credentials{ID: p.server.ID, Secret: p.server.Secret},
	}))
	w := objects.Writer{Bucket: b, Spool: p.spool}
	if _, err := w.Full(t.Context(), p.source, time.Now()); err == nil || !strings.Contains(err.Error(), "was asked to encrypt") {
		t.Errorf("a backup with aes256 on a server that ignores it: %v, want an error that says what was asked", err)
	}
	if _, err := p.restored(p.server.URL, time.Time{}); !errors.Is(err, backup.ErrNone) {
		t.Errorf("restored from that server: %v, want that there is no backup", err)
	}
	says = "AES256"
	if _, err := w.Full(t.Context(), p.source, time.Now()); err != nil && !errors.Is(err, backup.ErrUnchanged) { // it goes on with what was uploaded
		t.Errorf("a backup on a server that says it encrypts: %v, want none", err)
	}
	p.restores("a=1")
}
