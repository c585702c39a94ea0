package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	index "github.com/blevesearch/bleve_index_api"
	_ "modernc.org/sqlite" // the driver

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	batch       = 1000
	textQueries = 200
)

// library indexes texts in a folder and searches them.
type library interface {
	build(dir string, texts []string) error
	search(question string) (hits int, err error)
	bytes() (int64, error)
	close() error
}

// selfTimed is a library in a process of its own, which measures there what the latest build or search took.
type selfTimed interface{ took() time.Duration }

// timeOf is what a build or search took that began at start.
func timeOf(l library, start time.Time) time.Duration {
	if own, ok := l.(selfTimed); ok {
		return own.took()
	}
	return time.Since(start)
}

// measurement is what came of a library.
type measured struct {
	build, p50, p99 time.Duration
	bytes           int64
	hits            int
}

// compareTexts prints how long building an index takes, how large it is, and how long the ten best texts take.
func compareTexts(n int) error {
	made := measure.NewTexts(1)
	texts, questions := make([]string, n), make([]string, textQueries)
	for i := range texts {
		texts[i] = made.Text(20, 80)
	}
	for i := range questions {
		questions[i] = made.Text(2, 5)
	}
	names := []string{"alcove", "bleve (en, BM25)", "SQLite FTS5 (porter)"}
	libraries := []library{&ofAlcove{}, &ofBleve{}, &ofSQLite{}}
	if x, err := newXapian(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: without Xapian:", err)
	} else {
		names, libraries = append(names, "Xapian "+x.version+" (en, BM25)"), append(libraries, x)
	}
	rows, all := [][]string{{fmt.Sprintf("%d texts", n), "build", "bytes", "p50", "p99", "hits"}}, map[string]measured{}
	for i, l := range libraries {
		m, err := measureText(l, texts, questions)
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		all[names[i]] = m
		rows = append(rows, []string{names[i], fmt.Sprintf("%.2f s", m.build.Seconds()), fmt.Sprintf("%.1f MB", float64(m.bytes)/1e6), milliseconds(m.p50), milliseconds(m.p99), strconv.Itoa(m.hits)})
	}
	table(rows)
	ours, theirs, sqlite := all[names[0]], all[names[1]], all[names[2]]
	fastest := slices.MinFunc(names[1:], func(a, b string) int { return cmp.Compare(all[a].p50, all[b].p50) })
	table([][]string{
		{"ratio", ""},
		{"p50, part of " + fastest + ", the fastest", verdict(float64(ours.p50)/float64(all[fastest].p50), 1.1, false)},
		{"p50, times bleve", verdict(float64(theirs.p50)/float64(ours.p50), 8, true)},
		{"p50, times FTS5", verdict(float64(sqlite.p50)/float64(ours.p50), 60, true)},
		{"build, times bleve", verdict(float64(theirs.build)/float64(ours.build), 3, true)},
		{"bytes, part of bleve's", verdict(float64(ours.bytes)/float64(theirs.bytes), .6, false)},
	})
	return nil
}

func measureText(l library, texts, questions []string) (m measured, err error) {
	dir, err := os.MkdirTemp("", "alcove-bench-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, l.close(), os.RemoveAll(dir)) }()
	debug.FreeOSMemory()
	start := time.Now()
	if err := l.build(dir, texts); err != nil {
		return m, err
	}
	m.build = timeOf(l, start)
	if m.bytes, err = l.bytes(); err != nil {
		return m, err
	}
	for _, q := range questions[:20] { // what is read from files is in memory then
		if _, err := l.search(q); err != nil {
			return m, err
		}
	}
	took := make([]time.Duration, len(questions))
	for i, q := range questions {
		start := time.Now()
		hits, err := l.search(q)
		if err != nil {
			return m, err
		}
		took[i] = timeOf(l, start)
		m.hits += hits
	}
	m.p50, m.p99 = percentiles(took)
	return m, nil
}

// ofAlcove is this project's index, with its files.
type ofAlcove struct {
	index *search.Index
	view  search.View
	files files
}

// files are what an index keeps, in a folder.
type files string

func (f files) path(name string) string {
	return filepath.Join(string(f), strings.ReplaceAll(name, "/", "-"))
}

func (f files) PutBlob(_ context.Context, name string, r io.Reader) (store.Blob, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return store.Blob{}, err
	}
	return store.Blob{Name: name, Size: int64(len(data))}, os.WriteFile(f.path(name), data, 0o600)
}

func (f files) GetBlob(_ context.Context, name string) (store.BlobReader, error) {
	data, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.ErrNotFound
	}
	return held{bytes.NewReader(data)}, err
}

// held is a file in memory.
type held struct{ *bytes.Reader }

func (held) Close() error { return nil }

func (f files) DropBlob(_ context.Context, name string) error       { return os.Remove(f.path(name)) }
func (f files) Blobs(context.Context, string) ([]store.Blob, error) { return nil, nil }

func (a *ofAlcove) build(dir string, texts []string) error {
	a.files = files(dir)
	a.index = search.New(search.Options{})
	a.view = search.View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}}, Now: time.Now()}
	docs := make([]search.Doc, 0, batch)
	for i, text := range texts {
		docs = append(docs, search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: "default", Collection: "memory", Key: strconv.Itoa(i),
			Text: []string{text}, State: search.Active, Time: a.view.Now})
		if len(docs) < batch && i < len(texts)-1 {
			continue
		}
		a.index.Apply(docs...)
		docs = docs[:0]
		select {
		case <-a.index.Due():
			if err := a.index.Maintain(context.Background()); err != nil {
				return err
			}
		default:
		}
	}
	return a.index.SaveAll(context.Background(), a.files, uint64(len(texts)))
}

func (a *ofAlcove) bytes() (int64, error) { return sizeOf(string(a.files)) }
func (a *ofAlcove) close() error          { return nil }

func (a *ofAlcove) search(question string) (int, error) {
	r, err := a.index.Search(context.Background(), a.view, search.Query{Text: question, K: 10})
	return len(r.Hits), err
}

type ofBleve struct {
	dir   string
	index bleve.Index
}

func (b *ofBleve) open(dir string) (err error) {
	m := bleve.NewIndexMapping()
	m.DefaultAnalyzer, m.ScoringModel = en.AnalyzerName, index.BM25Scoring
	text := bleve.NewTextFieldMapping()
	text.Store, text.IncludeTermVectors, text.IncludeInAll, text.DocValues = false, false, false, false
	m.DefaultMapping.Dynamic = false
	m.DefaultMapping.AddFieldMappingsAt("text", text)
	b.dir = filepath.Join(dir, "bleve")
	if b.index, err = bleve.Open(b.dir); errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		b.index, err = bleve.New(b.dir, m)
	}
	return err
}

func (b *ofBleve) add(texts []string) error {
	from, err := b.index.DocCount()
	if err != nil {
		return err
	}
	list := b.index.NewBatch()
	for i, text := range texts {
		if err := list.Index(strconv.FormatUint(from+uint64(i), 10), map[string]string{"text": text}); err != nil {
			return err
		}
	}
	return b.index.Batch(list)
}

func (b *ofBleve) build(dir string, texts []string) error {
	if err := b.open(dir); err != nil {
		return err
	}
	for list := range slices.Chunk(texts, batch) {
		if err := b.add(list); err != nil {
			return err
		}
	}
	return nil
}

func (b *ofBleve) bytes() (int64, error) {
	if err := b.index.Close(); err != nil { // merges and writes what it still has to
		return 0, err
	}
	size, err := sizeOf(b.dir)
	if err != nil {
		return 0, err
	}
	b.index, err = bleve.Open(b.dir)
	return size, err
}

func (b *ofBleve) close() error { return b.index.Close() }

func (b *ofBleve) search(question string) (int, error) {
	q := bleve.NewMatchQuery(question)
	q.SetField("text")
	r, err := b.index.Search(bleve.NewSearchRequestOptions(q, 10, 0, false))
	if err != nil {
		return 0, err
	}
	return len(r.Hits), nil
}

type ofSQLite struct {
	path string
	db   *sql.DB
}

func (s *ofSQLite) build(dir string, texts []string) (err error) {
	s.path = filepath.Join(dir, "texts.db")
	if s.db, err = sql.Open("sqlite", s.path); err != nil {
		return err
	}
	if _, err := s.db.Exec(`CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='porter unicode61')`); err != nil {
		return err
	}
	for from := 0; from < len(texts); from += batch {
		tx, err := s.db.Begin()
		if err != nil {
			return err
		}
		insert, err := tx.Prepare(`INSERT INTO t(rowid, text) VALUES (?, ?)`)
		if err != nil {
			return err
		}
		for i := from; i < min(from+batch, len(texts)); i++ {
			if _, err := insert.Exec(i+1, texts[i]); err != nil {
				return err
			}
		}
		if err := errors.Join(insert.Close(), tx.Commit()); err != nil {
			return err
		}
	}
	return nil
}

func (s *ofSQLite) bytes() (int64, error) { return sizeOf(filepath.Dir(s.path)) }
func (s *ofSQLite) close() error          { return s.db.Close() }

func (s *ofSQLite) search(question string) (int, error) {
	rows, err := s.db.Query(`SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10`, strings.Join(strings.Fields(question), " OR "))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

func sizeOf(dir string) (int64, error) {
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
