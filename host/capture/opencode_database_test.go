package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/alcove-memory/alcove/host/memory/importer"
)

// openSchema has what is read of opencode's tables.
const openSchema = `PRAGMA journal_mode = wal;
	CREATE TABLE session(id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL, title text NOT NULL,
		time_created integer NOT NULL, time_updated integer NOT NULL);
	CREATE TABLE message(id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id), time_created integer NOT NULL,
		time_updated integer NOT NULL, data text NOT NULL);
	CREATE TABLE part(id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id), session_id text NOT NULL,
		time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
	CREATE INDEX message_session_time_created_id_idx ON message(session_id, time_created, id);
	CREATE INDEX part_message_id_id_idx ON part(message_id, id);`

// openEntries has what is read of the table of later versions.
const openEntries = `CREATE TABLE session_message(id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id), type text NOT NULL,
		seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
	CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message(session_id, seq);`

// openWriter writes opencode's database.
type openWriter struct {
	t    testing.TB
	path string
	conn *sqlite3.Conn
}

func newOpenWriter(t testing.TB, dir string) *openWriter {
	path := filepath.Join(dir, "opencode.db")
	conn, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	w := &openWriter{t, path, conn}
	w.exec(openSchema)
	return w
}

func (w *openWriter) exec(sql string, arguments ...any) {
	w.t.Helper()
	if len(arguments) == 0 {
		if err := w.conn.Exec(sql); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	stmt, _, err := w.conn.Prepare(sql)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, a := range arguments {
		switch a := a.(type) {
		case string:
			err = errors.Join(err, stmt.BindText(i+1, a))
		case int:
			err = errors.Join(err, stmt.BindInt64(i+1, int64(a)))
		}
	}
	if err := errors.Join(err, stmt.Exec(), stmt.Close()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *openWriter) session(id, parent string) {
	w.exec("INSERT INTO session VALUES(?, 'p', nullif(?, ''), '/nowhere/radio', 'a title', 1, 1)", id, parent)
}

func (w *openWriter) message(id, session string, at int, data string) {
	w.exec("INSERT INTO message VALUES(?, ?, ?, ?, ?)", id, session, at, at, data)
}

func (w *openWriter) part(id, message, session string, at int, data string) {
	w.exec("INSERT OR REPLACE INTO part VALUES(?, ?, ?, ?, ?, ?)", id, message, session, at, at, data)
}

func (w *openWriter) entry(id, session, kind string, seq, at int, data string) {
	w.exec("INSERT OR REPLACE INTO session_message VALUES(?, ?, ?, ?, ?, ?, ?)", id, session, kind, seq, at, at, data)
}

// says writes a message of one text.
func (w *openWriter) says(session, id string, at int, text string) {
	w.message("msg_"+id, session, at, fmt.Sprintf(`{"role":"user","time":{"created":%d}}`, at))
	w.part("prt_"+id, "msg_"+id, session, at, `{"type":"text","text":"`+text+`"}`)
}

// documents writes what documents of earlier versions have, as opencode moves them into its database.
func (w *openWriter) documents(storage string) {
	each := func(pattern string, do func(raw []byte, m map[string]any)) {
		files, err := filepath.Glob(filepath.Join(storage, pattern))
		if err != nil || len(files) == 0 {
			w.t.Fatalf("got %d documents %s, %v, want some", len(files), pattern, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			var m map[string]any
			if err == nil {
				err = json.Unmarshal(raw, &m)
			}
			if err != nil {
				w.t.Logf("%s is left out: %v", file, err)
				continue
			}
			do(raw, m)
		}
	}
	text := func(v any) string { s, _ := v.(string); return s }
	each("session/*/*.json", func(_ []byte, m map[string]any) {
		w.exec("INSERT INTO session VALUES(?, 'p', nullif(?, ''), ?, 'a title', 1, 1)", text(m["id"]), text(m["parentID"]), text(m["directory"]))
	})
	each("message/*/*.json", func(raw []byte, m map[string]any) { w.message(text(m["id"]), text(m["sessionID"]), 1000, string(raw)) })
	each("part/*/*.json", func(raw []byte, m map[string]any) {
		w.part(text(m["id"]), text(m["messageID"]), text(m["sessionID"]), 1000, string(raw))
	})
}

func TestADatabaseHasTheTurnsThatItsDocumentsHad(t *testing.T) {
	dir := t.TempDir()
	newOpenWriter(t, dir).documents("testdata/opencode-storage/storage")
	s, ok, err := Detect(dir)
	if err != nil || !ok || s.Client != OpenCode {
		t.Fatalf("Detect: got %q, %v, %v, want %q", s.Client, ok, err, OpenCode)
	}
	got, wrong := memoriesOf(t, s, dir)
	want, _ := memoriesOf(t, s, "testdata/opencode-storage")
	if string(asJSON(got)) != string(asJSON(want)) || len(got) == 0 || len(wrong) > 0 {
		t.Errorf("got %s and %q wrong, want %s", asJSON(got), wrong, asJSON(want))
	}
}

// openRead reads on from a cursor.
func openRead(t *testing.T, path string, from Cursor) (texts []string, at Cursor, wrong []string) {
	t.Helper()
	r := Reader{Source: openCodeSource(), Wrong: func(err *importer.InputError) error { wrong = append(wrong, err.Error()); return nil }}
	at = from
	err := r.Read(t.Context(), path, from, func(turns []Turn, next Cursor) error {
		for _, turn := range turns {
			texts = append(texts, fmt.Sprintf("%d %s", turn.Seq, turn.Text))
		}
		at = next
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts, at, wrong
}

func TestOnlyWhatChangedInADatabaseIsGivenAgain(t *testing.T) {
	w := newOpenWriter(t, t.TempDir())
	w.session("ses_1", "")
	w.session("ses_2", "")
	w.session("ses_3", "ses_1")
	w.says("ses_1", "a", 100_000, "first")
	w.says("ses_2", "b", 200_000, "other")
	w.says("ses_3", "c", 200_000, "of a subagent")
	steps := []struct {
		do   func()
		want []string
	}{
		{func() {}, []string{"0 first", "0 other"}},
		{func() { w.says("ses_1", "d", 300_000, "second") }, []string{"0 other", "1 second"}}, // what is near the newest is given twice
		{func() { w.part("prt_a", "msg_a", "ses_1", 400_000, `{"type":"text","text":"first, changed"}`) },
			[]string{"0 first, changed", "1 second"}},
		{func() {}, []string{"0 first, changed"}},
		{func() { w.exec("PRAGMA wal_checkpoint(TRUNCATE)"); w.says("ses_2", "e", 500_000, "after a checkpoint") },
			[]string{"0 first, changed", "1 after a checkpoint"}},
	}
	var at Cursor
	for i, step := range steps {
		step.do()
		var got, wrong []string
		if got, at, wrong = openRead(t, w.path, at); !slices.Equal(got, step.want) || len(wrong) > 0 {
			t.Errorf("step %d: got %q and %q wrong, want %q", i, got, wrong, step.want)
		}
	}
}

func TestADatabaseThatMovesMeanwhileIsReadAgain(t *testing.T) {
	w := newOpenWriter(t, t.TempDir())
	w.session("ses_1", "")
	for i := range chunkTurns + 1 {
		w.says("ses_1", fmt.Sprintf("%04d", i), 100_000, "text")
	}
	for _, always := range []bool{false, true} {
		sink := map[string]bool{}
		var wrong []string
		moves := 0
		r := Reader{Source: openCodeSource(), Wrong: func(err *importer.InputError) error { wrong = append(wrong, err.Error()); return nil }}
		err := r.Read(context.Background(), w.path, Cursor{}, func(turns []Turn, _ Cursor) error {
			for _, turn := range turns {
				sink[turn.ID] = true
			}
			if moves++; moves == 1 || always {
				w.exec("UPDATE session SET time_updated = time_updated + 1; PRAGMA wal_checkpoint(TRUNCATE)")
			}
			return nil
		})
		if isOften := len(wrong) == 1 && strings.Contains(wrong[0], "the next time"); err != nil || isOften != always {
			t.Errorf("moved always (%v): got %v and %q wrong", always, err, wrong)
		}
		if want := chunkTurns + 1; !always && len(sink) != want {
			t.Errorf("got %d turns, want %d", len(sink), want)
		}
	}
}

func TestWhatIsWrongInADatabaseIsLeftOut(t *testing.T) {
	w := newOpenWriter(t, t.TempDir())
	w.session("ses_1", "")
	w.says("ses_1", "a", 1000, "good")
	w.message("msg_b", "ses_1", 2000, `{"role":`)
	w.message("msg_c", "ses_1", 3000, `{"role":"user"}`)
	w.part("prt_c1", "msg_c", "ses_1", 3000, `no JSON`)
	w.part("prt_c2", "msg_c", "ses_1", 3000, `{"type":"text","text":"also good"}`)
	w.exec("INSERT INTO part SELECT 'prt_c3', 'msg_c', 'ses_1', 1, 1, printf('%*c', ?, 'x')", longestValue+1)
	got, _, wrong := openRead(t, w.path, Cursor{})
	if want := []string{"0 good", "1 also good"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, want := range []string{"msg_b", "prt_c1", "bytes in a part"} {
		if len(wrong) != 3 || !strings.Contains(strings.Join(wrong, "\n"), want) {
			t.Errorf("%d: got %q, want three, one with %q", i, wrong, want)
		}
	}
}

func TestADatabaseOfAnotherProgramIsRefused(t *testing.T) {
	for name, sql := range map[string]string{
		"views": `ALTER TABLE part RENAME TO p;
			CREATE VIEW part AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n, p`,
		"none":  `DROP TABLE part`,
		"fewer": `ALTER TABLE part DROP COLUMN time_updated`,
	} {
		w := newOpenWriter(t, t.TempDir())
		w.exec(sql)
		if got, _, wrong := openRead(t, w.path, Cursor{}); len(got) > 0 || len(wrong) != 1 {
			t.Errorf("%s: got %q and %q wrong, want one wrong", name, got, wrong)
		}
	}
}

func TestMessagesOfLaterVersionsAreReadFromTheirOwnTable(t *testing.T) {
	for name, without := range map[string]string{
		"both schemas":      "",
		"the later alone":   `DROP TABLE part; DROP TABLE message`,
		"without sequences": `DROP INDEX session_message_session_seq_idx; ALTER TABLE session_message DROP COLUMN seq`,
	} {
		w := newOpenWriter(t, t.TempDir())
		w.exec(openEntries)
		w.session("ses_1", "")
		w.session("ses_2", "ses_1")
		w.entry("msg_a", "ses_1", "user", 1, 1000, `{"text":"What does it <private>not</private> do?","files":[{"uri":"file:///a","mime":"image/png","name":"a.png"}],"time":{"created":1000}}`)
		w.entry("msg_b", "ses_1", "synthetic", 2, 2000, `{"text":"of the program","time":{"created":2000}}`)
		w.entry("msg_c", "ses_1", "assistant", 3, 3000, `{"time":{"created":3000},"content":[{"type":"reasoning","text":"hm"},{"type":"text","id":"t0","text":"I look."},
			{"type":"tool","id":"call_1","name":"read","state":{"status":"completed","input":{"filePath":"/a.go"},"content":[{"type":"text","text":"its output"}]}},
			{"type":"text","id":"t0","text":"It does."},{"type":"tool","id":"call_2","name":"bash","state":{"status":"streaming","input":"{\"com"}}]}`)
		w.entry("msg_d", "ses_1", "shell", 4, 4000, `{"command":"go test","status":"exited","exit":1,"output":{"text":"FAIL"},"time":{"created":4000}}`)
		w.entry("msg_e", "ses_1", "assistant", 5, 5000, `no JSON`)
		w.entry("msg_f", "ses_2", "user", 1, 5000, `{"text":"of a subagent"}`)
		w.entry("msg_g", "ses_1", "user", 6, 6000, `{"text":"Good."}`)
		if without != "" {
			w.exec(without)
		}
		got, at, wrong := openRead(t, w.path, Cursor{})
		want := []string{"0 What does it  do?", "1 I look.", "2 read: /a.go (ok)", "3 It does.", "4 bash", "5 shell: go test (failed)", "6 Good."}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if len(wrong) != 1 || !strings.Contains(wrong[0], "msg_e") {
			t.Errorf("%s: got %q wrong, want msg_e", name, wrong)
		}
		if got, _, _ := openRead(t, w.path, at); !slices.Equal(got, want) { // all are near the newest
			t.Errorf("%s: got %q the second time, want %q", name, got, want)
		}
	}
}

func TestASessionThatGoesOnInTheLaterTableIsGivenOnce(t *testing.T) {
	w := newOpenWriter(t, t.TempDir())
	w.exec(openEntries)
	w.session("ses_1", "")
	w.says("ses_1", "a", 100_000, "first")
	w.says("ses_1", "b", 200_000, "second")
	w.entry("msg_a", "ses_1", "user", 1, 100_000, `{"text":"first"}`) // as a later version copies them
	w.entry("msg_b", "ses_1", "user", 2, 200_000, `{"text":"second"}`)
	w.entry("msg_c", "ses_1", "user", 3, 300_000, `{"text":"third"}`)
	got, at, wrong := openRead(t, w.path, Cursor{})
	if want := []string{"0 first", "1 second", "2 third"}; !slices.Equal(got, want) || len(wrong) > 0 {
		t.Errorf("got %q and %q wrong, want %q", got, wrong, want)
	}
	w.entry("msg_d", "ses_1", "user", 4, 400_000, `{"text":"fourth"}`)
	if got, _, _ = openRead(t, w.path, at); !slices.Equal(got, []string{"2 third", "3 fourth"}) {
		t.Errorf("later: got %q, want the third and the fourth", got)
	}
}

// BenchmarkOpenDatabase reads 20,000 turns of each schema.
func BenchmarkOpenDatabase(b *testing.B) {
	const sessions, turns = 20, 1000
	for _, later := range []bool{false, true} {
		w := newOpenWriter(b, b.TempDir())
		w.exec(openEntries + "PRAGMA synchronous = off; BEGIN")
		for s := range sessions {
			session := fmt.Sprintf("ses_%02d", s)
			w.session(session, "")
			for i := range turns {
				id, at := fmt.Sprintf("%02d_%04d", s, i), 1000*i
				text := fmt.Sprintf("What the program does at step %d, and why. ", i) + strings.Repeat("More. ", 20)
				if later {
					w.entry("msg_"+id, session, "user", i, at, `{"text":"`+text+`"}`)
				} else {
					w.says(session, id, at, text)
				}
			}
		}
		w.exec("COMMIT")
		b.Run(fmt.Sprintf("later=%v", later), func(b *testing.B) {
			for b.Loop() {
				got := 0
				r := Reader{Source: openCodeSource()}
				err := r.Read(b.Context(), w.path, Cursor{}, func(turns []Turn, _ Cursor) error { got += len(turns); return nil })
				if err != nil || got != sessions*turns {
					b.Fatalf("got %d turns and %v, want %d", got, err, sessions*turns)
				}
			}
			b.ReportMetric(float64(b.N*sessions*turns)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}
