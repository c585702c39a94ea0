// Package manual writes manual pages and shell completions of the commands that a program has.
package manual

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Files are the pages of a command and of all below it, as man/man1/NAME.1, and completions of four shells. They have no date: a program's
// files are always the same.
func Files(root *cobra.Command) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, c := range Commands(root) {
		files["man/man1/"+pageOf(c)+".1"] = page(c)
	}
	name := root.Name()
	for file, write := range map[string]func(*bytes.Buffer) error{
		name + ".bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"_" + name:     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		name + ".fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
		name + ".ps1":  func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, fmt.Errorf("write the completion %s: %w", file, err)
		}
		files["completions/"+file] = b.Bytes()
	}
	return files, nil
}

// Commands are a command and all below it that are not hidden.
func Commands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			list = append(list, Commands(below)...)
		}
	}
	return list
}

func pageOf(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// roff is text with the markup of manual pages.
type roff struct{ strings.Builder }

func page(c *cobra.Command) []byte {
	var r roff
	root := c.Root()
	fmt.Fprintf(&r, ".TH %s 1 \"\" \"%s %s\" \"Commands of %s\"\n", escaped(strings.ToUpper(pageOf(c))), escaped(root.Name()), escaped(root.Version), escaped(root.Name()))
	r.section("NAME")
	fmt.Fprintf(&r, "%s \\- %s\n", escaped(pageOf(c)), escaped(c.Short))
	r.section("SYNOPSIS")
	fmt.Fprintf(&r, "\\fB%s\\fR\n", escaped(c.UseLine()))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&r, ".PP\nAlso called: %s\n", escaped(strings.Join(c.Aliases, ", ")))
	}
	if c.Long != "" {
		r.section("DESCRIPTION")
		r.text(c.Long)
	}
	if c.Example != "" {
		r.section("EXAMPLES")
		r.verbatim(strings.Split(c.Example, "\n"))
	}
	r.options(c)
	r.below(c)
	return []byte(r.String())
}

func (r *roff) section(title string) { fmt.Fprintf(r, ".SH %s\n", title) }

// text writes paragraphs, which are filled, and indented lines, which stay as they are.
func (r *roff) text(text string) {
	var indented []string
	flush := func() {
		if len(indented) > 0 {
			r.verbatim(indented)
			indented = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, " "):
			indented = append(indented, line)
		case strings.TrimSpace(line) == "":
			flush()
			r.WriteString(".PP\n")
		default:
			flush()
			r.line(line)
		}
	}
	flush()
}

func (r *roff) verbatim(lines []string) {
	r.WriteString(".PP\n.nf\n")
	for _, line := range lines {
		r.line(line)
	}
	r.WriteString(".fi\n")
}

func (r *roff) line(line string) { r.WriteString(escaped(line) + "\n") }

// options lists the flags of a command. Those of all commands are on the root's page alone.
func (r *roff) options(c *cobra.Command) {
	flags := c.NonInheritedFlags()
	if !flags.HasAvailableFlags() {
		return
	}
	r.section("OPTIONS")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(r, ".TP\n\\fB%s\\fR", escaped(name))
		if kind != "" {
			fmt.Fprintf(r, " \\fI%s\\fR", escaped(kind))
		}
		r.WriteString("\n")
		r.line(usage + otherwise(f))
	})
	if c.HasParent() {
		fmt.Fprintf(r, ".PP\nOptions of all commands are in \\fB%s\\fR(1).\n", escaped(c.Root().Name()))
	}
}

// otherwise tells the default of a flag, unless it is the zero value.
func otherwise(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// below lists the commands of a command.
func (r *roff) below(c *cobra.Command) {
	var list []*cobra.Command
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			list = append(list, below)
		}
	}
	if len(list) > 0 {
		r.section("COMMANDS")
	}
	for _, below := range list {
		fmt.Fprintf(r, ".TP\n\\fB%s\\fR(1)\n", escaped(pageOf(below)))
		r.line(below.Short)
	}
	if c.HasParent() {
		r.section("SEE ALSO")
		fmt.Fprintf(r, "\\fB%s\\fR(1)\n", escaped(pageOf(c.Parent())))
	}
}

// escaped is text as roff prints it. A line that begins with a dot or an apostrophe is no request.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
