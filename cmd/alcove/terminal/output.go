package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
)

// Style is a way to print text on terminals that have it.
type Style string

// The styles, as the parameters of the escape sequence that begins each.
const (
	Bold    Style = "1"
	Dim     Style = "2"
	Red     Style = "31"
	Green   Style = "32"
	Yellow  Style = "33"
	Heading Style = "1;36"
)

// Output prints to a file or terminal. It may be used by several goroutines.
type Output struct {
	file     io.Writer
	terminal bool
	coloured bool
	redraws  bool // a line can be erased and printed anew

	mu      sync.Mutex
	partial []byte // the beginning of a rune whose rest is yet to be written
	drawn   bool   // the cursor is at the end of a line of Working
	closed  bool   // nobody reads it any more
}

// New prints to w. Styles are used on a terminal, unless the environment says NO_COLOR or TERM=dumb.
func New(w io.Writer, env func(string) string) *Output {
	terminal := isTerminal(w)
	redraws := terminal && env("TERM") != "dumb"
	return &Output{file: w, terminal: terminal, coloured: redraws && env("NO_COLOR") == "", redraws: redraws}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Printf prints its arguments in a layout. Each is printed as Line would, unless it is a Text or a number.
func (o *Output) Printf(layout string, args ...any) error {
	cleaned := make([]any, len(args))
	for i, arg := range args {
		cleaned[i] = argument(arg)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.eraseDrawn()
	_, err := fmt.Fprintf(o.file, layout, cleaned...)
	return o.unlessClosed(err)
}

// unlessClosed returns an error of writing, unless it says that nobody reads the output any more: whoever ran the command has read
// enough, and what the command does goes on. The caller holds mu.
func (o *Output) unlessClosed(err error) error {
	if !errors.Is(err, syscall.EPIPE) {
		return err
	}
	o.closed = true
	return nil
}

// Closed reports whether nobody reads the output any more. What prints without end stops then.
func (o *Output) Closed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

func argument(arg any) any {
	if t, ok := arg.(Text); ok {
		return t.s
	}
	switch arg.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return clean(fmt.Sprint(arg), oneLine)
	}
	if kind := reflect.ValueOf(arg).Kind(); kind >= reflect.Bool && kind <= reflect.Float64 {
		return arg
	}
	return clean(fmt.Sprint(arg), oneLine)
}

// Style is text as Line has it, in a style.
func (o *Output) Style(style Style, text string) Text {
	t := Line(text)
	if !o.coloured {
		return t
	}
	return Text{"\x1b[" + string(style) + "m" + t.s + "\x1b[0m"}
}

// JSON prints a value, indented, with every number and character as it is: what Lines would replace is escaped in strings.
func (o *Output) JSON(v any) error {
	raw, isRaw := v.(json.RawMessage)
	if !isRaw {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			return fmt.Errorf("print as JSON: %w", err)
		}
		raw = out.Bytes()
	}
	return o.Printf("%s\n", IndentedJSON(raw))
}

// maxIndentation is how much white space JSON may get, in bytes: a megabyte that is nested deep would get hundreds.
const maxIndentation = 16 << 20

// IndentedJSON is JSON with a member a line, or as it is where that would be far longer. What is no JSON is text.
func IndentedJSON(raw []byte) Text {
	var out bytes.Buffer
	if indentation(raw) > maxIndentation && json.Valid(raw) {
		return JSON(string(bytes.TrimSpace(raw)))
	}
	if json.Indent(&out, bytes.TrimSpace(raw), "", "  ") != nil {
		return Lines(string(raw))
	}
	return JSON(out.String())
}

// indentation is about how many bytes of white space JSON would get.
func indentation(raw []byte) (bytes int) {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			bytes += 4 * depth // in front of what it begins with, and of its end
		case c == ']' || c == '}':
			depth--
		case c == ',':
			bytes += 2 * depth
		}
	}
	return bytes
}

// Write prints text as Lines has it: what other packages print, such as logs and help.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.eraseDrawn()
	text := append(o.partial, p...)
	whole := wholeRunes(text)
	o.partial = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(o.file, clean(string(text[:whole]), manyLines)); o.unlessClosed(err) != nil {
		return 0, err
	}
	return len(p), nil
}

// wholeRunes is how many bytes there are before a rune that is not complete.
func wholeRunes(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRune(text[i:]) {
				break
			}
			return i
		}
	}
	return len(text)
}

// Data takes what programs read, byte for byte; on a terminal it is printed as Write does.
func (o *Output) Data() io.Writer {
	if o.terminal {
		return o
	}
	if _, ok := o.file.(*os.File); ok {
		return data{o}
	}
	return o.file
}

// data writes what programs read. Unlike Output, it reports that nobody reads it any more: what is written can be long.
type data struct{ output *Output }

func (d data) Write(p []byte) (int, error) {
	n, err := d.output.file.Write(p)
	if err != nil {
		d.output.mu.Lock()
		defer d.output.mu.Unlock()
		d.output.unlessClosed(err)
	}
	return n, err
}

// Progress shows how far something is, on a terminal only.
type Progress struct {
	What  string
	All   int64 // -1: unknown
	Bytes bool  // it is counted in bytes
	Quiet bool
}

// Progress begins to show how far something is.
func (o *Output) Progress(p Progress) *progressbar.ProgressBar {
	return progressbar.NewOptions64(p.All, progressbar.OptionSetWriter(o.file), progressbar.OptionSetDescription(Line(p.What).s),
		progressbar.OptionShowBytes(p.Bytes), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetVisibility(o.terminal && !p.Quiet),
		progressbar.OptionSetSpinnerChangeInterval(0)) // it would draw on its own otherwise, beside us
}
