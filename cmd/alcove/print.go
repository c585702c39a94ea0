package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const oneLineLimit = 100 // characters of a value in a list

func (a *app) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.out, format, args...)
	return err
}

// notef tells people something that is not a result.
func (a *app) notef(format string, args ...any) error {
	_, err := fmt.Fprintf(a.err, format, args...)
	return err
}

// printJSON prints a value, indented, with every number and character as it is.
func (a *app) printJSON(v any) error {
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
	return a.printf("%s\n", indented(raw))
}

func indented(raw []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, bytes.TrimSpace(raw), "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// printFields prints the members of an object, one a line, in their order.
func (a *app) printFields(object json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.Token()
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if err := a.printf("%-12s %s\n", strings.ReplaceAll(fmt.Sprint(name), "_", " "), oneLine("", value)); err != nil {
			return err
		}
	}
	return nil
}

// shown is a value as people read it: text as it is, anything else as indented JSON.
func shown(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil && string(value) != "null" {
		return plain(s, "\n\t")
	}
	return indented(value)
}

// oneLine is a snippet or, without one, a value, on one line.
func oneLine(snippet string, value json.RawMessage) string {
	s := snippet
	if s == "" && json.Unmarshal(value, &s) != nil {
		var out bytes.Buffer
		if json.Compact(&out, value) == nil {
			s = out.String()
		}
	}
	s = strings.Join(strings.Fields(plain(s, "\n\t")), " ")
	if utf8.RuneCountInString(s) > oneLineLimit {
		s = string([]rune(s)[:oneLineLimit-1]) + "…"
	}
	return s
}

// plain takes out control characters, other than those allowed: what was stored must not steer the
// terminal of who reads it.
func plain(s, allowed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune(allowed, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// clock is an instant as people read it, in their own time zone.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000") }

// coloured reports whether escape sequences are welcome: on a terminal, unless NO_COLOR is set.
func (a *app) coloured() bool {
	return a.env("NO_COLOR") == "" && a.env("TERM") != "dumb" && isTerminal(a.out)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (a *app) paint(code, s string) string {
	if !a.coloured() {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (a *app) bold(s string) string { return a.paint("1", s) }
func (a *app) dim(s string) string  { return a.paint("2", s) }
