package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Step is a part of a worked example: text, or a call with its answer.
type Step struct {
	Text      string // of a paragraph; empty: it is a call
	Tool      string
	Arguments string // JSON
	Answer    string // JSON, on any number of lines
}

// Parse reads a worked example: paragraphs, and calls that begin with > TOOL ARGUMENTS, each with its answer below. Blank lines separate
// them.
func Parse(text string) (steps []Step) {
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		line, answer, _ := strings.Cut(strings.TrimSpace(block), "\n")
		call, ok := strings.CutPrefix(line, "> ")
		if !ok {
			steps = append(steps, Step{Text: strings.TrimSpace(block)})
			continue
		}
		tool, arguments, _ := strings.Cut(call, " ")
		steps = append(steps, Step{Tool: tool, Arguments: arguments, Answer: answer})
	}
	return steps
}

// Write writes an example as Parse reads it.
func Write(steps []Step) string {
	var blocks []string
	for _, s := range steps {
		block := s.Text
		if s.Tool != "" {
			block = fmt.Sprintf("> %s %s\n%s", s.Tool, s.Arguments, s.Answer)
		}
		blocks = append(blocks, block)
	}
	return strings.Join(blocks, "\n\n") + "\n"
}

// longestLine is how long an answer may be on one line.
const longestLine = 120

// Laid is an answer on one line, or on several if it is long.
func Laid(answer []byte) (string, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, answer); err != nil {
		return "", err
	}
	if out.Len() <= longestLine {
		return out.String(), nil
	}
	out.Reset()
	if err := json.Indent(&out, answer, "", "  "); err != nil {
		return "", err
	}
	return strings.ReplaceAll(out.String(), "\n\n", "\n"), nil
}

// rendered is an example in Markdown.
func rendered(steps []Step) string {
	var out strings.Builder
	for i, s := range steps {
		if i > 0 {
			out.WriteString("\n")
		}
		if s.Tool == "" {
			fmt.Fprintf(&out, "%s\n", s.Text)
			continue
		}
		fmt.Fprintf(&out, "```\n%s %s\n%s\n```\n", s.Tool, s.Arguments, s.Answer)
	}
	return out.String()
}
