package bundle_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bundle"
)

// odd is an engine with values and names of every kind.
func odd(t testing.TB) *bolt.Engine {
	t.Helper()
	e, err := bolt.Open(context.Background(), t.TempDir(), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	var batch store.Batch
	for i, value := range []string{`{"v":"<b> & \u2028"}`, "not JSON", "", "null", `{"a": 1}`, "{\"a\":\n1}", "\xff\xfe", " 1", strings.Repeat("long ", 1000), `12345678901234567890.5`} {
		batch.Writes = append(batch.Writes, store.Write{Branch: 3, Key: store.Key{Namespace: "n", Collection: "c", Name: fmt.Sprintf("k%d\x00\xff\"é", i)}, Value: []byte(value)})
	}
	if _, err := e.Commit(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
	second := store.Batch{
		Writes: []store.Write{{Branch: 3, Key: batch.Writes[0].Key, Delete: true}},
		Counters: []store.CounterWrite{
			{Branch: 3, Key: batch.Writes[1].Key, Version: 1, Value: []byte(`{"n":1}`)}, {Branch: 3, Key: batch.Writes[2].Key, Version: 1},
		},
	}
	if _, err := e.Commit(context.Background(), second); err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{`{"a":"<b> & ann"}`, "not JSON"} {
		if _, err := e.Commit(context.Background(), store.Batch{Note: []byte(note)}); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func written(t testing.TB, e *bolt.Engine) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := bundle.Write(context.Background(), &out, e, 0, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestABundleOfABundleIsTheSame(t *testing.T) {
	first := written(t, odd(t))
	dir := t.TempDir()
	l, err := bolt.NewLoader(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Read(t.Context(), bytes.NewReader(first), l.Add, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
	notes, err := again.Notes(t.Context(), 0, store.Latest, 9)
	if err != nil || len(notes) != 2 || string(notes[0].Note) != "not JSON" || string(notes[1].Note) != `{"a":"<b> & ann"}` {
		t.Errorf("the notes are %+v (%v)", notes, err)
	}
	if second := written(t, again); !bytes.Equal(first, second) {
		t.Errorf("the second is\n%s\nnot\n%s", second, first)
	}
}

func TestABundleNamesTheFamiliesWithoutWhichNothingWasStored(t *testing.T) {
	e := odd(t)
	want := []bundle.Guard{{Family: "hide", Version: "1.0.0", Digest: "0"}, {Family: "tag", Digest: "1", Carried: true}}
	var out bytes.Buffer
	if _, err := bundle.Write(t.Context(), &out, e, 0, func() ([]bundle.Guard, error) { return want, nil }); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out.String(), early(out.String())} {
		pieces := 0
		s, err := bundle.Read(t.Context(), strings.NewReader(text), func(store.Piece) error { pieces++; return nil }, nil)
		if err != nil || !slices.Equal(s.Guards, want) || pieces == 0 {
			t.Errorf("%.40s: got guards %+v, %d pieces (%v), want %+v", text, s.Guards, pieces, err, want)
		}
	}
	broken := errors.New("the lock file is broken")
	if _, err := bundle.Write(t.Context(), &out, e, 0, func() ([]bundle.Guard, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("Write: %v, want %v", err, broken)
	}
}

// early returns a bundle with guards as builds before version 1 wrote it.
func early(text string) string {
	lines := strings.SplitAfter(strings.Replace(text, `"format":1`, `"format":2`, 1), "\n")
	before := len(lines) - 2 // the last is empty
	sum := sha256.Sum256([]byte(strings.Join(lines[:before], "")))
	return strings.Join(lines[:before], "") + fmt.Sprintf("{\"end\":true,\"lines\":%d,\"sha256\":\"%x\"}\n", before, sum)
}

func TestDamagedBundlesAreNamedWithTheirLine(t *testing.T) {
	whole := string(written(t, odd(t)))
	lines := strings.SplitAfter(whole, "\n")
	end := lines[len(lines)-2]
	body := strings.TrimSuffix(whole, end)
	for name, c := range map[string]struct{ input, says string }{
		"nothing":             {"", "not a bundle"},
		"another file":        {"hello\n", "line 1: it is not a bundle"},
		"a newer format":      {strings.Replace(whole, `"format":1`, `"format":3`, 1), "use a newer program"},
		"cut in a line":       {whole[:len(whole)/2], "truncated"},
		"cut behind a line":   {body, "truncated"},
		"a changed value":     {strings.Replace(whole, "12345678901234567890.5", "12345678901234567890.6", 1), "it was changed"},
		"a missing line":      {strings.Replace(whole, lines[2], "", 1), "it was changed"},
		"a line that is none": {strings.Replace(whole, lines[2], "{]\n", 1), "line 3:"},
		"an unknown kind":     {strings.Replace(whole, lines[2], `{"planet":1}`+"\n", 1), "line 3:"},
		"an empty piece":      {strings.Replace(whole, lines[2], "{}\n", 1), "none of the known kinds"},
		"a guard of nothing":  {strings.Replace(whole, lines[2], `{"guard":{"family":"hide"}}`+"\n", 1), "line 3: a guard has"},
		"a long guard":        {strings.Replace(whole, lines[2], `{"guard":{"family":"hide","digest":"`+strings.Repeat("0", 201)+`"}}`+"\n", 1), "at most 200 bytes"},
		"many guards":         {lines[0] + strings.Repeat(`{"guard":{"family":"hide","digest":"0"}}`+"\n", 1001), "line 1002: it has more than 1000 guards"},
		"no value":            {strings.Replace(whole, lines[2], `{"b":1,"n":"n","c":"c","k":"k","v":1}`+"\n", 1), "neither a value"},
		"a long line":         {lines[0] + strings.Repeat("x", 17<<20), "longer than"},
		"more behind the end": {whole + "{}\n", "something follows"},
		"a broken end":        {body + `{"end":true,"lines":"x"}` + "\n", "the last line is damaged"},
	} {
		_, err := bundle.Read(t.Context(), strings.NewReader(c.input), func(store.Piece) error { return nil }, nil)
		var at *bundle.LineError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Read: %v, want a LineError that says %q", name, err, c.says)
		}
	}
}

// FuzzRead reads anything: nothing panics, what is allocated is in proportion, and a bundle that is taken can be loaded or is
// refused with a reason.
func FuzzRead(f *testing.F) {
	f.Add(written(f, odd(f)))
	for _, bomb := range []string{strings.Repeat("[", 100_000), `{"branches":[` + strings.Repeat("0,", 100_000) + "0]}", `{"branch":1,"keep":[` + strings.Repeat("{},", 50_000) + "{}]}"} {
		f.Add([]byte(`{"alcove":"bundle","format":1}` + "\n" + bomb + "\n"))
	}
	f.Add([]byte(`{"alcove":"bundle","format":1}` + "\n" + `{"point":[1,2]}` + "\n" + `{"b":0,"k64":"/w==","v":1,"x64":""}` + "\n"))
	f.Add([]byte(`{"alcove":"bundle","format":2}` + "\n" + strings.Repeat(`{"guard":{"family":"hide","digest":"0"}}`+"\n", 2000)))
	f.Fuzz(func(t *testing.T, input []byte) {
		n, err := 0, error(nil)
		read := func(p store.Piece) error {
			if p.Entry == nil && p.Point == nil && p.Branch == nil && p.Counter == nil && p.Branches == nil {
				t.Error("an empty piece was given")
			}
			n++
			return nil
		}
		spent := allocated(func() { _, err = bundle.Read(t.Context(), bytes.NewReader(input), read, nil) })
		if most := 16<<20 + 256*uint64(len(input)); spent > most {
			t.Errorf("%d bytes are allocated for %d", spent, len(input))
		}
		if err == nil && n > bytes.Count(input, []byte("\n")) {
			t.Errorf("%d pieces of %d lines", n, bytes.Count(input, []byte("\n")))
		}
	})
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkBundle exports and imports 200,000 memories of 200 bytes, and copies the same bytes as a plain file beside it.
func BenchmarkBundle(b *testing.B) {
	const memories = 200_000
	e, err := bolt.Open(b.Context(), b.TempDir(), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	value := []byte(`{"v":"` + strings.Repeat("memory ", 27) + `"}`)
	for at := 0; at < memories; at += 10_000 {
		var batch store.Batch
		for i := range 10_000 {
			batch.Writes = append(batch.Writes, store.Write{Branch: 1, Key: store.Key{Namespace: "n", Collection: "memory", Name: fmt.Sprintf("key-%08d", at+i)}, Value: value})
		}
		if _, err := e.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		path := b.TempDir() + "/bundle"
		exported := timed(b, func() error { return export(b.Context(), path, e) })
		imported := timed(b, func() error { return load(b.Context(), path, b.TempDir()) })
		copied := timed(b, func() error { return copyFile(path, path+".copy") })
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(memories/exported, "exported/s")
		b.ReportMetric(memories/imported, "imported/s")
		b.ReportMetric(float64(info.Size())/exported/1e6, "export-MB/s")
		b.ReportMetric(float64(info.Size())/copied/1e6, "copy-MB/s")
		b.ReportMetric(memories/copied, "copied/s")
	}
}

func timed(b *testing.B, do func() error) float64 {
	b.Helper()
	began := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began).Seconds()
}

func export(ctx context.Context, path string, e *bolt.Engine) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = bundle.Write(ctx, f, e, 0, nil)
	return errors.Join(err, f.Sync(), f.Close())
}

func load(ctx context.Context, path, dir string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := bolt.NewLoader(dir)
	if err != nil {
		return err
	}
	if _, err := bundle.Read(ctx, f, l.Add, nil); err != nil {
		return err
	}
	return l.Finish(ctx)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(in)
	return errors.Join(err, out.Sync(), out.Close())
}
