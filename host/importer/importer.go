// Package importer reads what other tools wrote and turns it into memories.
//
// Every reader gives the same keys for the same input, so that importing twice changes nothing, and streams: what it
// holds in memory is one element, or an index of names.
package importer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/memory"
)

// Format names what wrote the input.
type Format string

// The formats.
const (
	Memories    Format = "memories"     // alcove export --memories
	Graph       Format = "server-graph" // the knowledge graph of MCP's memory server: JSON lines
	Markdown    Format = "markdown"     // a folder of notes
	BasicMemory Format = "basic-memory" // a folder of notes with observations and relations
	Mem0        Format = "mem0"         // memories exported from mem0: JSON
	ChatGPT     Format = "chatgpt"      // conversations.json of an export of ChatGPT's
	Claude      Format = "claude"       // conversations.json of an export of Claude's
)

// Limits of what is read, in bytes but for notes.
const (
	maxLine    = 16 << 20
	maxElement = 64 << 20 // a conversation
	maxNote    = 1 << 20
	maxNotes   = 1_000_000
	maxIndex   = 5_000_000 // names and relations remembered
)

// Yield takes a memory.
type Yield func(memory.PortableMemory) error

// InputError says where the input is wrong.
type InputError struct {
	Path  string
	Place string // such as "line 3"; may be empty
	Err   error
}

func (e *InputError) Error() string {
	if e.Place == "" {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s, %s: %v", e.Path, e.Place, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

func readers() map[Format]func(ctx context.Context, path string, yield Yield) error {
	return map[Format]func(context.Context, string, Yield) error{
		Memories: readMemories, Graph: readGraph, Markdown: readMarkdown, BasicMemory: readBasicMemory,
		Mem0: readMem0, ChatGPT: readChatGPT, Claude: readClaude,
	}
}

// Formats are the names of all formats, sorted.
func Formats() []Format { return slices.Sorted(maps.Keys(readers())) }

// Read reads a file or folder. What was given before an error is right; the error says where to look.
func Read(ctx context.Context, path string, f Format, yield Yield) error {
	read := readers()[f]
	if read == nil {
		return fmt.Errorf("there is no format %q: use one of %v", f, Formats())
	}
	return read(ctx, path, func(m memory.PortableMemory) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return yield(m)
	})
}

// Detect tells the format of a file or folder from how it begins.
func Detect(path string) (Format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return detectNotes(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	start := make([]byte, 64<<10)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	if format := detectJSON(start[:n]); format != "" {
		return format, nil
	}
	return "", fmt.Errorf("%s is of no format that is known: say which with --format, one of %v", path, Formats())
}

func detectJSON(start []byte) Format {
	text := string(start)
	has := func(name string) bool { return strings.Contains(text, `"`+name+`"`) }
	switch {
	case strings.HasPrefix(text, `{"alcove":"memories"`):
		return Memories
	case has("mapping") && (has("title") || has("create_time")):
		return ChatGPT
	case has("chat_messages"):
		return Claude
	case has("entityType") || has("relationType"):
		return Graph
	case has("memory") && has("id"):
		return Mem0
	}
	return ""
}

// detectNotes looks at a few notes for what basic-memory writes.
func detectNotes(dir string) (Format, error) {
	notes, err := listNotes(dir)
	if err != nil {
		return "", err
	}
	if len(notes) == 0 {
		return "", fmt.Errorf("there is no note (*.md) in %s", dir)
	}
	for _, n := range notes[:min(len(notes), 20)] {
		text, err := readNote(dir, n)
		if err != nil {
			return "", err
		}
		if front, _ := frontMatter(text); bytes.Contains(front, []byte("permalink:")) {
			return BasicMemory, nil
		}
	}
	return Markdown, nil
}

// lines gives a file's lines that are not blank, with their numbers.
func lines(path string, do func(n int, line []byte) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for scanner.Scan() {
		n++
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		if err := do(n, scanner.Bytes()); err != nil {
			return at(path, fmt.Sprintf("line %d", n), err)
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return at(path, fmt.Sprintf("line %d", n+1), fmt.Errorf("it is longer than %d bytes", maxLine))
	}
	return scanner.Err()
}

// at says where an error was, once.
func at(path, place string, err error) error {
	var placed *InputError
	if errors.As(err, &placed) {
		return err
	}
	return &InputError{Path: path, Place: place, Err: err}
}

// bounded reads at most so many bytes between calls of its reset.
type bounded struct {
	r    io.Reader
	left int64
}

var errElement = fmt.Errorf("it is longer than %d bytes", maxElement)

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errElement
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// elements decodes the elements of an array one by one: the outermost, or the one in a field of the outermost object.
func elements[T any](path string, fields []string, do func(n int, element T) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := &bounded{bufio.NewReaderSize(f, 256<<10), maxElement}
	dec := json.NewDecoder(in)
	dec.UseNumber()
	if err := toArray(dec, fields); err != nil {
		return at(path, "", err)
	}
	for n := 1; dec.More(); n++ {
		in.left = maxElement
		var element T
		if err := dec.Decode(&element); err != nil {
			return at(path, fmt.Sprintf("element %d", n), err)
		}
		if err := do(n, element); err != nil {
			return at(path, fmt.Sprintf("element %d", n), err)
		}
	}
	if _, err := dec.Token(); err != nil { // the end of the array
		return at(path, "the end", err)
	}
	return nil
}

var errNoArray = errors.New("it is not a JSON array of what is expected")

func toArray(dec *json.Decoder, fields []string) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token == json.Delim('[') {
		return nil
	}
	if token != json.Delim('{') {
		return errNoArray
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if text, ok := name.(string); ok && slices.Contains(fields, text) {
			if token, err := dec.Token(); err != nil || token != json.Delim('[') {
				return errors.Join(errNoArray, err)
			}
			return nil
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return err
		}
	}
	return errNoArray
}

func encode(v any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null") // strings, numbers and what JSON was decoded to always can be
	}
	return bytes.TrimSpace(out.Bytes())
}

// key joins the parts of a key, which is at most a kilobyte.
func key(parts ...string) string {
	k := strings.ToValidUTF8(strings.Join(parts, "/"), "\uFFFD")
	if len(k) > 1<<10 {
		k = k[:1<<10]
		for !utf8.ValidString(k) {
			k = k[:len(k)-1]
		}
	}
	return k
}

// meta is metadata without what is empty.
func meta(pairs ...any) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i+1 < len(pairs); i += 2 {
		raw := encode(pairs[i+1])
		if s := string(raw); s != `""` && s != "null" && s != "0" {
			m[fmt.Sprint(pairs[i])] = raw
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

func readMemories(_ context.Context, path string, yield Yield) error {
	count, ended := 0, false
	err := lines(path, func(n int, line []byte) error {
		if n == 1 {
			var h memory.MemoriesHeader
			if json.Unmarshal(line, &h) != nil || h.Alcove != "memories" || h.Format != 1 {
				return fmt.Errorf("it is not the header of exported memories of format 1")
			}
			return nil
		}
		if ended {
			return errors.New("something follows the last line")
		}
		if bytes.HasPrefix(line, []byte(`{"end":`)) {
			var t memory.MemoriesTrailer
			if err := json.Unmarshal(line, &t); err != nil || t.Memories != count {
				return fmt.Errorf("the file has %d memories and should have %d", count, t.Memories)
			}
			ended = true
			return nil
		}
		var m memory.PortableMemory
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		count++
		return yield(m)
	})
	if err == nil && !ended {
		return at(path, "", errors.New("the last line is missing: the file was cut short"))
	}
	return err
}

func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func joined(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	both := maps.Clone(b)
	maps.Copy(both, a)
	return both
}
