// Package importer converts the data of other tools to memories.
//
// Readers produce the same keys for the same input, so a repeated import changes nothing. They stream: memory holds one
// element, or an index of names.
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

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/regular"
)

// Format is the format of the input.
type Format string

// The formats.
const (
	Memories      Format = "memories"           // alcove export --memories
	Graph         Format = "server-graph"       // the knowledge graph of MCP's memory server: JSON lines
	Markdown      Format = "markdown"           // a folder of notes, or one
	BasicMemory   Format = "basic-memory"       // the same with observations and relations
	Mem0          Format = "mem0"               // memories exported from mem0: JSON
	MemoryService Format = "mcp-memory-service" // memories exported from mcp-memory-service: JSON
	OpenMemory    Format = "openmemory"         // a backup of OpenMemory's: the zip, the folder, or memories.json
	ChatGPT       Format = "chatgpt"            // an export of ChatGPT's: the zip, the folder, or conversations.json
	Claude        Format = "claude"             // an export of Claude's: the zip, the folder, or a file of it
)

// Input is the data of another tool.
type Input struct {
	Path   string // a file, folder or zip
	Format Format
	// Skip is called for each invalid line, element or note. It is skipped if Skip returns nil. A nil Skip: the first one
	// ends Read with its error.
	Skip func(*InputError) error

	open func() (io.ReadCloser, error) // opens a part of an export; nil: the file at Path
}

func (in Input) reader() (io.ReadCloser, error) {
	if in.open != nil {
		return in.open()
	}
	return regular.Open(in.Path)
}

// Yield receives a memory.
type Yield func(portable.Memory) error

// InputError is an error in the input with its location.
type InputError struct {
	Path     string
	Location string // such as "line 3"; may be empty
	Err      error
}

func (e *InputError) Error() string {
	if e.Location == "" {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s, %s: %v", e.Path, e.Location, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

func readers() map[Format]func(in Input, yield Yield) error {
	return map[Format]func(Input, Yield) error{
		Memories: readMemories, Graph: readGraph, Markdown: readMarkdown, BasicMemory: readBasicMemory,
		Mem0: readMem0, MemoryService: readMemoryService, OpenMemory: readOpenMemory, ChatGPT: readChatGPT, Claude: readClaude,
	}
}

// Formats returns the names of all formats, sorted.
func Formats() []Format { return slices.Sorted(maps.Keys(readers())) }

// FormatNames returns Formats as a list for people.
func FormatNames() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Read converts the input. Memories yielded before an error are valid; the error names its location.
func (in Input) Read(ctx context.Context, yield Yield) error {
	read := readers()[in.Format]
	if read == nil {
		return fmt.Errorf("there is no format %q: use one of %s", in.Format, FormatNames())
	}
	return read(in, func(m portable.Memory) error {
		err := ctx.Err()
		if err == nil {
			err = yield(m)
		}
		if err != nil {
			return &stopError{err}
		}
		return nil
	})
}

// stopError is an error that ends Read even when errors are skipped, such as one returned by Yield.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }
func (e *stopError) Unwrap() error { return e.err }

// wrong returns the error of a part of the input, or nil if the part is skipped.
func (in Input) wrong(path, place string, err error) error {
	placed := at(path, place, err)
	if isRefused := new(stopError); errors.As(err, &isRefused) || in.Skip == nil {
		return placed
	}
	return in.Skip(placed)
}

// quietly returns the input without reports of skipped parts, for a first pass.
func (in Input) quietly() Input {
	if in.Skip != nil {
		in.Skip = func(*InputError) error { return nil }
	}
	return in
}

// Detect returns the format of a file or folder, judged by its beginning.
func Detect(path string) (Format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() && strings.EqualFold(filepath.Ext(path), ".md") {
		return detectNotes(path)
	}
	x, err := openExport(path)
	if err != nil {
		return "", at(path, "", err)
	}
	format, err := x.format()
	if err = errors.Join(err, x.close()); format != "" || err != nil {
		return format, err
	}
	if info.IsDir() {
		return detectNotes(path)
	}
	return "", fmt.Errorf("%s is of no format that is known: say which with --format, one of %s", path, FormatNames())
}

func detectJSON(start []byte) Format {
	text := string(start)
	has := func(name string) bool { return strings.Contains(text, `"`+name+`"`) }
	switch {
	case strings.HasPrefix(text, `{"alcove":"memories"`):
		return Memories
	case has("mapping") && (has("title") || has("create_time")):
		return ChatGPT
	case claudeKind(start) != nil:
		return Claude
	case has("entityType") || has("relationType"):
		return Graph
	case has("content_hash"):
		return MemoryService
	case has("category_ids") || has("apps") && has("owner_id") || has("content") && has("state") && has("categories"):
		return OpenMemory
	case has("memory") && has("id"):
		return Mem0
	}
	return ""
}

// detectNotes checks a few notes for basic-memory's syntax.
func detectNotes(path string) (Format, error) {
	all, err := Input{Path: path}.notes()
	if err != nil {
		return "", err
	}
	if len(all.names) == 0 {
		return "", fmt.Errorf("there is neither a note (*.md) nor an export of a kind that is known in %s: formats are %s", path, FormatNames())
	}
	for _, n := range all.names[:min(len(all.names), 20)] {
		text, err := readNote(all.dir, n)
		if err != nil {
			continue // Read reports it
		}
		if front, _ := frontMatter(text); bytes.Contains(front, []byte("permalink:")) {
			return BasicMemory, nil
		}
	}
	return Markdown, nil
}

// lines yields the non-blank lines with their numbers.
func (in Input) lines(do func(n int, line []byte) error) (err error) {
	f, err := regular.Open(in.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(f, 64<<10)
	var line []byte
	for n := 1; ; n++ {
		var last bool
		if line, last, err = nextLine(r, line[:0]); err == nil && len(bytes.TrimSpace(line)) > 0 {
			if err = CheckJSON(line); err == nil {
				err = do(n, line)
			}
		}
		if err != nil {
			if err := in.wrong(in.Path, fmt.Sprintf("line %d", n), err); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// nextLine appends a line, without its line break. A line that is too long is skipped.
func nextLine(r *bufio.Reader, line []byte) (_ []byte, last bool, err error) {
	for {
		part, failed := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			line, part, err = line[:0], nil, &LimitError{"bytes in a line", maxLine, "split it"}
		}
		if line = append(line, part...); errors.Is(failed, bufio.ErrBufferFull) {
			continue
		}
		if failed != nil && !errors.Is(failed, io.EOF) {
			return nil, true, &stopError{failed}
		}
		return bytes.TrimSuffix(line, []byte("\n")), failed != nil, err
	}
}

// at adds a location to an error, once.
func at(path, place string, err error) *InputError {
	var placed *InputError
	if errors.As(err, &placed) {
		return placed
	}
	return &InputError{Path: path, Location: place, Err: err}
}

// limitedReader limits the bytes read between resets.
type limitedReader struct {
	r    io.Reader
	left int64
}

var errElement = &LimitError{"bytes in an element", maxElement, "split it"}

func (b *limitedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errElement
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// elements decodes the elements of an array one by one: the outermost, or the one in a field of the outermost object.
func elements[T any](input Input, fields []string, do func(element T) error) (err error) {
	f, err := input.reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := &limitedReader{bufio.NewReaderSize(f, 256<<10), maxElement}
	dec := json.NewDecoder(in)
	if err := toArray(dec, fields); err != nil {
		return at(input.Path, "", err)
	}
	var raw json.RawMessage
	for n := 1; dec.More(); n++ {
		place := fmt.Sprintf("element %d", n)
		in.left = maxElement
		if err := dec.Decode(&raw); err != nil {
			return at(input.Path, place, err) // the start of the next one is unknown
		}
		if err := decodeElement(raw, do); err != nil {
			if err := input.wrong(input.Path, place, err); err != nil {
				return err
			}
		}
	}
	if _, err := dec.Token(); err != nil { // the end of the array
		return at(input.Path, "the end", err)
	}
	return nil
}

func decodeElement[T any](raw json.RawMessage, do func(T) error) error {
	if err := CheckJSON(raw); err != nil {
		return err
	}
	var element T
	if err := json.Unmarshal(raw, &element); err != nil {
		return err
	}
	return do(element)
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
	out, err := jsontext.Encode(v)
	if err != nil {
		return json.RawMessage("null") // strings, numbers and decoded JSON always encode
	}
	return out
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

// meta is metadata without empty values.
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

func readMemories(in Input, yield Yield) error {
	count, ended := 0, false // including skipped ones
	if skip := in.Skip; skip != nil {
		in.Skip = func(err *InputError) error {
			count++
			return skip(err)
		}
	}
	err := in.lines(func(n int, line []byte) error {
		if n == 1 {
			if err := portable.CheckHeader(line); err != nil {
				return &stopError{err}
			}
			return nil
		}
		if ended {
			return &stopError{errors.New("something follows the last line")}
		}
		if bytes.HasPrefix(line, []byte(portable.Trailer)) {
			if err := portable.CheckTrailer(line, count); err != nil {
				return &stopError{err}
			}
			ended = true
			return nil
		}
		var m portable.Memory
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		count++
		return yield(m)
	})
	if err == nil && !ended {
		return at(in.Path, "", errors.New("the last line is missing: the file was truncated"))
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
