package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
)

const oneLineLimit = 100 // characters of a value in a list

// printf prints results.
func (a *app) printf(layout string, args ...any) error {
	a.stopWorking()
	return a.out.Printf(layout, args...)
}

// notef prints to standard error: notes, warnings and errors.
func (a *app) notef(layout string, args ...any) error { return a.err.Printf(layout, args...) }

// counted returns a noun with its count.
func counted[N int | int64 | uint64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (a *app) printJSON(v any) error {
	a.stopWorking()
	return a.out.JSON(v)
}

// printEach prints the elements of a list; with --json, the list.
func printEach[T any](a *app, list []T, one func(T) error) error {
	if a.asJSON {
		return a.printJSON(list)
	}
	for _, element := range list {
		if err := one(element); err != nil {
			return err
		}
	}
	return nil
}

// showWorking makes a command show, on a terminal, that it is at work. It stops when the command ends, prints a result or
// shows a bar. A command that reads standard input is left alone: people may be typing.
func (a *app) showWorking(c *cobra.Command) {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !a.asJSON && !slices.Contains(args, "-") {
			a.working = a.err.Working(strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "))
			defer a.stopWorking()
		}
		return run(c, args)
	}
}

// showWorkingBelow is for all commands but those that run until they are interrupted.
func (a *app) showWorkingBelow(c *cobra.Command) {
	for _, c := range c.Commands() {
		a.showWorkingBelow(c)
		if lasts := c.Name() == "serve" || c.Name() == "mcp" || c.Name() == "demo"; c.RunE != nil && !lasts {
			a.showWorking(c)
		}
	}
}

func (a *app) stopWorking() {
	if a.working != nil {
		a.working.Stop()
	}
}

// printNotes prints the notes of an answer, such as which family was skipped.
func (a *app) printNotes(notes []string) error {
	for _, note := range notes {
		if err := a.notef("note: %s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// notesIn are the notes in the answer of a core tool. A family's tool may mean something else by these names.
func notesIn(answer json.RawMessage) []string {
	var said struct {
		Note  string
		Notes []string
	}
	if json.Unmarshal(answer, &said) != nil {
		return nil
	}
	if said.Note != "" {
		said.Notes = append(said.Notes, said.Note)
	}
	return said.Notes
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
		if err := a.printField(strings.ReplaceAll(fmt.Sprint(name), "_", " "), oneLine("", value)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printField(name, value string) error { return a.printf("%-14s %s\n", name, value) }

// shown is a value as people read it: text as it is, anything else as indented JSON.
func shown(value json.RawMessage) terminal.Text {
	var s string
	if json.Unmarshal(value, &s) == nil && string(value) != "null" {
		return terminal.Lines(strings.TrimSuffix(s, "\n"))
	}
	return terminal.IndentedJSON(value)
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
	s = terminal.Line(strings.Join(strings.Fields(s), " ")).String()
	if utf8.RuneCountInString(s) > oneLineLimit {
		s = string([]rune(s)[:oneLineLimit-1]) + "…"
	}
	return s
}

// clock is an instant as people read it, in their own time zone.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000") }

func (a *app) bold(s string) terminal.Text { return a.out.Style(terminal.Bold, s) }
func (a *app) dim(s string) terminal.Text  { return a.out.Style(terminal.Dim, s) }

// progress shows the bytes done out of all (-1: unknown).
func (a *app) progress(what string, all int64) *progressbar.ProgressBar {
	a.stopWorking()
	return a.err.Progress(terminal.Progress{What: what, All: all, Bytes: true, Quiet: a.asJSON})
}

// count shows the things done out of all (-1: unknown).
func (a *app) count(what string, all int) *progressbar.ProgressBar {
	a.stopWorking()
	return a.err.Progress(terminal.Progress{What: what, All: int64(all), Quiet: a.asJSON})
}
