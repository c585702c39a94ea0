package objects_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/objects"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/objectserver"
)

// place is a prefix on a server, seen by one machine.
type place struct {
	t      *testing.T
	server *objectserver.Server
	spool  string
	e      *bolt.Engine
}

func newPlace(t *testing.T) place {
	t.Helper()
	e := must.Get(bolt.Open(t.Context(), t.TempDir(), bolt.Options{}))
	t.Cleanup(func() { _ = e.Close() })
	return place{t, objectserver.Start(t), t.TempDir(), e}
}

// at returns the bucket at an address, which may be a proxy's.
func (p place) at(url string) *objects.Bucket {
	p.t.Helper()
	return must.Get(objects.Open(must.Get(objects.ParseLocation("s3://"+p.server.Bucket+"/laptop")), objects.Options{
		Endpoint: url, PathStyle: true, Credentials: objects.Credentials{ID: p.server.ID, Secret: p.server.Secret},
	}))
}

func (p place) writer(url string) objects.Writer {
	return objects.Writer{Bucket: p.at(url), Spool: p.spool}
}

func (p place) source(ctx context.Context, since backup.Base, w io.Writer) error {
	return backup.Write(ctx, w, p.e, since, nil)
}

func (p place) put(name, value string) {
	p.t.Helper()
	_, err := p.e.Commit(p.t.Context(), store.Batch{Writes: []store.Write{{Branch: 1, Key: store.Key{Namespace: "n", Collection: "c", Name: name}, Value: []byte(value)}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// large stores something that takes several pieces to upload.
func (p place) large() {
	for i := range 5 {
		noise := make([]byte, 4<<20)
		_, _ = rand.Read(noise)
		p.put("large"+string(rune('0'+i)), string(noise))
	}
}

func (p place) full(url string) backup.Part {
	p.t.Helper()
	return must.Get(p.writer(url).Full(p.t.Context(), p.source, time.Now()))
}

func (p place) increment(url string) backup.Part {
	p.t.Helper()
	return must.Get(p.writer(url).Increment(p.t.Context(), p.source, time.Now()))
}

// restored restores what is there as of a moment, and lists the short values.
func (p place) restored(url string, asOf time.Time) (string, error) {
	p.t.Helper()
	c, err := p.at(url).Chain(p.t.Context(), asOf)
	if err != nil {
		return "", err
	}
	dir := p.t.TempDir()
	read := func(l store.Loader, _ string) error { return c.Read(p.t.Context(), nil, l, nil, nil) }
	if err := (bolt.Driver{}).Load(p.t.Context(), dir, store.Load{Read: read}); err != nil {
		return "", err
	}
	e := must.Get(bolt.Open(p.t.Context(), dir, bolt.Options{}))
	defer e.Close()
	list, _, err := e.ScanAt(p.t.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, store.Range{}, "", 100)
	var said []string
	for _, entry := range list {
		if len(entry.Value) < 100 {
			said = append(said, entry.Name+"="+string(entry.Value))
		}
	}
	return strings.Join(said, " "), err
}

func (p place) restores(want string) {
	p.t.Helper()
	if got, err := p.restored(p.server.URL, time.Time{}); err != nil || got != want {
		p.t.Errorf("restored %q (%v), want %q", got, err, want)
	}
}

func TestIncrementsInABucketGoOnFromOneAnotherAndAreRestoredAsOfAMoment(t *testing.T) {
	p := newPlace(t)
	url := p.server.URL
	if _, err := p.writer(url).Increment(t.Context(), p.source, time.Now()); !errors.Is(err, backup.ErrNone) {
		t.Errorf("an increment of nothing: %v, want ErrNone", err)
	}
	p.put("a", "1")
	p.large()
	first := p.full(url)
	p.put("a", "2")
	second := p.increment(url)
	if same, err := p.writer(url).Increment(t.Context(), p.source, time.Now()); !errors.Is(err, backup.ErrUnchanged) || same.File != second.File {
		t.Errorf("an increment of no change: %s (%v), want %s and ErrUnchanged", same.File, err, second.File)
	}
	p.put("a", "3")
	third := p.full(url)
	p.restores("a=3")
	for at, want := range map[time.Time]string{first.UntilTime: "a=1", second.UntilTime: "a=2", third.UntilTime: "a=3"} {
		if got, err := p.restored(url, at); err != nil || got != want {
			t.Errorf("as of %s: restored %q (%v), want %q", at, got, err, want)
		}
	}
	if _, err := p.restored(url, first.UntilTime.Add(-time.Hour)); !errors.Is(err, backup.ErrLater) {
		t.Errorf("as of an earlier moment: %v, want ErrLater", err)
	}
	list := must.Get(p.at(url).List(t.Context()))
	if len(list) != 2 || list[0].Parts != 1 || list[1].Parts != 2 {
		t.Errorf("got chains %+v, want one of one part and one of two", list)
	}
	if removed := must.Get(p.at(url).Prune(t.Context(), 1)); len(removed) != 1 || removed[0] != list[1].Chain {
		t.Errorf("removed %v, want %s", removed, list[1].Chain)
	}
	if left := must.Get(p.at(url).List(t.Context())); len(left) != 1 || left[0].Chain != list[0].Chain {
		t.Errorf("left %+v, want %s", left, list[0].Chain)
	}
	p.restores("a=3")
}

func TestAnInterruptedUploadGoesOnAndTheChainBeforeItRestores(t *testing.T) {
	p := newPlace(t)
	p.put("a", "1")
	p.full(p.server.URL)
	p.put("a", "2")
	p.large()
	var sent atomic.Int32
	ctx, cut := context.WithCancel(t.Context())
	broken := p.server.Proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && r.URL.Query().Has("partNumber") && sent.Add(1) == 3 {
			cut()
			panic(http.ErrAbortHandler)
		}
		return false
	}, nil)
	if _, err := p.writer(broken.URL).Increment(ctx, p.source, time.Now()); err == nil {
		t.Fatal("got no error of an upload that was cut, want one")
	}
	p.restores("a=1")
	p.put("a", "3")
	var again atomic.Int32
	counted := p.server.Proxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && r.URL.Query().Has("partNumber") {
			again.Add(1)
		}
		return false
	}, nil)
	p.increment(counted.URL)
	if got := again.Load(); got != 1 {
		t.Errorf("after two of three pieces, %d were sent, want the last one", got)
	}
	p.restores("a=3")
	if files := must.Get(os.ReadDir(p.spool)); len(files) != 1 {
		t.Errorf("the spool has %v, want the lock alone", files)
	}
}

func TestAPartThatWasChangedIsNamed(t *testing.T) {
	p := newPlace(t)
	p.put("a", "a value to change")
	part := p.full(p.server.URL)
	chain := must.Get(p.at(p.server.URL).List(t.Context()))[0].Chain
	file, manifest := filepath.Join(p.server.Dir, "laptop", chain, part.File), filepath.Join(p.server.Dir, "laptop", chain, backup.ManifestName)
	whole, list := must.Get(os.ReadFile(file)), must.Get(os.ReadFile(manifest))
	for name, c := range map[string]struct {
		path string
		data []byte
		says string
	}{
		"cut short":          {file, whole[:len(whole)-1], "it was truncated or changed"},
		"another value":      {file, bytes.Replace(whole, []byte("to change"), []byte("to alter!"), 1), "was changed"},
		"longer":             {file, append(whole[:len(whole):len(whole)], 'x'), "it was truncated or changed"},
		"another manifest":   {manifest, bytes.Replace(list, []byte(`"pieces": `), []byte(`"pieces": 1`), 1), "it was changed"},
		"half a manifest":    {manifest, list[:len(list)/2], "not the manifest"},
		"of another chain":   {manifest, bytes.Replace(list, []byte(chain), []byte("20200101T000000Z-00000000"), 1), "it was changed"},
		"an endless one":     {manifest, bytes.Repeat([]byte(" "), backup.ManifestSize+1), "has more than 16777216 bytes"},
		"without the digest": {manifest, bytes.Replace(list, []byte(`"chain"`), []byte(`"other"`), 1), "it was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			before := must.Get(os.ReadFile(c.path))
			must.Do(t, os.WriteFile(c.path, c.data, 0o600))
			_, err := p.restored(p.server.URL, time.Time{})
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), filepath.Base(c.path)) {
				t.Errorf("restore: %v, want an error of %s that says %q", err, filepath.Base(c.path), c.says)
			}
			must.Do(t, os.WriteFile(c.path, before, 0o600))
		})
	}
	p.restores("a=a value to change")
}
