package scale

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// ReportVersion changes with the meaning of a report's members.
const ReportVersion = 1

// Schema is the JSON Schema of a report.
//
//go:embed report.schema.json
var Schema []byte

// Report is what a run measured, and where.
type Report struct {
	Version int    `json:"version"`
	Program string `json:"program"` // its version
	Machine string `json:"machine"`
	Texts   string `json:"texts"`
	Batch   int    `json:"batch"`
	Sizes   []Size `json:"sizes"`
}

// Size is what was measured of a memory of N. What was left out is absent. Times are in milliseconds, and MB are 10⁶ bytes.
type Size struct {
	N             int                `json:"n"`
	Store         Rates              `json:"store"`
	Bytes         Bytes              `json:"bytes"`
	Start         *Start             `json:"start,omitempty"`
	Calls         map[string]Latency `json:"calls,omitempty"` // by kind
	Memory        *Memory            `json:"memory,omitempty"`
	Unmeasured    string             `json:"memory_unmeasured,omitempty"` // why there is no memory
	Fork          float64            `json:"fork_ms,omitempty"`
	Conversations *Conversations     `json:"conversations,omitempty"`
	Backup        *Backup            `json:"backup,omitempty"`
	Verify        *Verify            `json:"verify,omitempty"`
	Peers         map[string]Peer    `json:"peers,omitempty"` // by name; alcove is the program, in the same turns
}

// Rates are memories stored in a second, in batches, each durable and searchable when it is answered.
type Rates struct {
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"per_second"`
	LastTenth float64 `json:"last_tenth_per_second"`
}

// Bytes are those of files, and of the texts that are stored.
type Bytes struct {
	Text     int64   `json:"text"`
	Database int64   `json:"database"`
	Index    int64   `json:"index"`
	Ratio    float64 `json:"ratio"` // of database and index to text
}

// Start is how long a client waits for a server that has to start.
type Start struct {
	Clean       float64 `json:"clean_ms"`        // to the answer of initialize, after a clean stop
	First       float64 `json:"first_search_ms"` // from there to that of the first search
	Newest      float64 `json:"first_newest_ms"` // of the first list by order newest
	Killed      float64 `json:"killed_ms"`
	KilledFirst float64 `json:"killed_first_search_ms"`
	Stop        float64 `json:"stop_ms"` // of a clean stop
}

// Latency is of calls of one kind.
type Latency struct {
	Calls int     `json:"calls"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
}

// Memory is that of the server after all searches, in bytes. What is mapped is of files, and goes when others need the room.
type Memory struct {
	Resident  int64 `json:"resident"`
	Anonymous int64 `json:"anonymous"`
	Mapped    int64 `json:"mapped"`
}

// Conversations compares a memory of N turns with one of N texts.
type Conversations struct {
	Turns Latency `json:"turns"`
	Plain Latency `json:"plain"`
	Ratio float64 `json:"ratio"` // of the medians
}

// Backup is that of all, and of Changed memories more.
type Backup struct {
	Full             float64 `json:"full_ms"`
	FullRate         float64 `json:"full_mb_per_second"` // of the database
	Bytes            int64   `json:"full_bytes"`
	Changed          int     `json:"changed"`
	Incremental      float64 `json:"incremental_ms"`
	IncrementalBytes int64   `json:"incremental_bytes"`
	IncrementalRate  float64 `json:"incremental_mb_per_second"` // of what it wrote
}

// Verify is the check of all files.
type Verify struct {
	Took float64 `json:"took_ms"`
	Rate float64 `json:"mb_per_second"` // of database and index
}

// Peer is a library beside the program, on the same texts, asked the same questions in turn.
type Peer struct {
	Version  string  `json:"version"`
	Build    float64 `json:"build_seconds,omitempty"`
	Bytes    int64   `json:"bytes"`
	Question Latency `json:"question"`
	CPU      float64 `json:"cpu_ms,omitempty"` // of a question, in all processes that have to do with it; 0: not measured
}

// Names of the program among the peers: as it is asked by default, by words and vectors, and by words alone, as the libraries are.
const (
	Ours        = "alcove"
	OursLexical = "alcove-lexical"
)

// Ratio is the median of one peer divided by that of another, 0 if either was not measured.
func (s Size) Ratio(a, b string) float64 {
	return ratio(s.Peers[a].Question.P50, s.Peers[b].Question.P50)
}

// ratioOfCPU is Ratio for processor time, which other work of the machine changes less.
func (s Size) ratioOfCPU(a, b string) float64 { return ratio(s.Peers[a].CPU, s.Peers[b].CPU) }

func ratio(ours, theirs float64) float64 {
	if ours == 0 || theirs == 0 {
		return 0
	}
	return rounded(ours / theirs)
}

func milliseconds(d time.Duration) float64 { return rounded(float64(d) / float64(time.Millisecond)) }

// rounded is to four digits, and whole from 1000 on.
func rounded(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, max(0, 3-math.Floor(math.Log10(math.Abs(v)))))
	return math.Round(v*scale) / scale
}

// LatencyOf is that of calls which took so long.
func LatencyOf(took []time.Duration) Latency {
	slices.Sort(took)
	return Latency{len(took), milliseconds(took[len(took)/2]), milliseconds(took[min(len(took)-1, len(took)*99/100)])}
}

func median(took []time.Duration) float64 { return LatencyOf(took).P50 }

// Kinds are those of calls, in the order in which they are shown.
func Kinds() []string {
	return []string{question, term, tagTenth, tagHundredth, tagThousandth, newest, past, branch, get, history, status}
}

const (
	question, term, newest, past, branch, get, history, status = "question", "term", "newest", "past", "branch", "get", "history", "status"
	tagTenth, tagHundredth, tagThousandth                      = "tag_tenth", "tag_hundredth", "tag_thousandth"
)

// Text is the report for people.
func (r Report) Text() string {
	var b strings.Builder
	row := func(label string, cell func(Size) string) {
		fmt.Fprintf(&b, "%-42s", label)
		for _, s := range r.Sizes {
			fmt.Fprintf(&b, " %16s", cell(s))
		}
		b.WriteString("\n")
	}
	for _, line := range r.rows() {
		row(line.label, line.cell)
	}
	fmt.Fprintf(&b, "Alcove %s on %s; %s; batches of %d\n", r.Program, r.Machine, r.Texts, r.Batch)
	return b.String()
}

// line is one of the report for people.
type line struct {
	label string
	cell  func(Size) string
}

const absent = "–"

func (r Report) rows() []line {
	list := []line{
		{"memories", func(s Size) string { return Thousands(s.N) }},
		{"stored in a second", func(s Size) string { return fmt.Sprintf("%.0f", s.Store.PerSecond) }},
		{"… in the last tenth", func(s Size) string { return fmt.Sprintf("%.0f", s.Store.LastTenth) }},
		{"text, MB", func(s Size) string { return megabytes(s.Bytes.Text) }},
		{"database, MB", func(s Size) string { return megabytes(s.Bytes.Database) }},
		{"index, MB", func(s Size) string { return megabytes(s.Bytes.Index) }},
		{"database and index, of text", func(s Size) string { return fmt.Sprintf("%.2f", s.Bytes.Ratio) }},
		{"start to initialize, ms", of1(func(s Size) *Start { return s.Start }, func(t *Start) float64 { return t.Clean })},
		{"… after SIGKILL, ms", of1(func(s Size) *Start { return s.Start }, func(t *Start) float64 { return t.Killed })},
		{"first search after start, ms", of1(func(s Size) *Start { return s.Start }, func(t *Start) float64 { return t.First })},
		{"… after SIGKILL, ms", of1(func(s Size) *Start { return s.Start }, func(t *Start) float64 { return t.KilledFirst })},
		{"first newest list, ms", of1(func(s Size) *Start { return s.Start }, func(t *Start) float64 { return t.Newest })},
		{"clean stop, ms", of1(func(s Size) *Start { return s.Start }, func(t *Start) float64 { return t.Stop })},
	}
	for _, kind := range Kinds() {
		list = append(list, line{kindLabel(kind) + ", p50 (p99) ms", func(s Size) string {
			l, ok := s.Calls[kind]
			if !ok {
				return absent
			}
			return fmt.Sprintf("%.4g (%.4g)", l.P50, l.P99)
		}})
	}
	return append(list,
		line{"fork, ms", func(s Size) string { return number(s.Fork) }},
		line{"turns of conversations, of plain search", of1(func(s Size) *Conversations { return s.Conversations }, func(c *Conversations) float64 { return c.Ratio })},
		line{"memory, anonymous, MB", memory(func(m *Memory) int64 { return m.Anonymous })},
		line{"memory, mapped, MB", memory(func(m *Memory) int64 { return m.Mapped })},
		line{"backup, MB/s", of1(func(s Size) *Backup { return s.Backup }, func(b *Backup) float64 { return b.FullRate })},
		line{"incremental backup, ms", of1(func(s Size) *Backup { return s.Backup }, func(b *Backup) float64 { return b.Incremental })},
		line{"verify, MB/s", of1(func(s Size) *Verify { return s.Verify }, func(v *Verify) float64 { return v.Rate })},
	)
}

func of1[T any](part func(Size) *T, value func(*T) float64) func(Size) string {
	return func(s Size) string {
		if p := part(s); p != nil {
			return number(value(p))
		}
		return absent
	}
}

func memory(value func(*Memory) int64) func(Size) string {
	return func(s Size) string {
		if s.Memory == nil {
			return absent
		}
		return megabytes(value(s.Memory))
	}
}

func number(v float64) string {
	if v == 0 {
		return absent
	}
	return fmt.Sprintf("%.4g", v)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

func kindLabel(kind string) string {
	return map[string]string{question: "question", term: "one word", tagTenth: "question, tag of a tenth", tagHundredth: "… of a hundredth", tagThousandth: "… of a thousandth",
		newest: "newest list", past: "question about the past", branch: "question on a branch", get: "get by key", history: "history", status: "status"}[kind]
}

// Thousands has a comma between each three digits.
func Thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}

// JSON is the report for programs.
func (r Report) JSON() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }
