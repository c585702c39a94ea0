// Command picture draws what the README shows: a record of alcove demo, which moves, and badges, which need no other host:
//
//	picture -program bin/alcove > docs/demo.svg
//	picture -badges . > docs/badges.svg
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	program := flag.String("program", "bin/alcove", "the program to record")
	badges := flag.String("badges", "", "the repository to draw badges of, in place of the record")
	flag.Parse()
	if err := run(os.Stdout, *program, *badges); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, program, badgesOfRoot string) error {
	if badgesOfRoot == "" {
		return record(w, program)
	}
	badges, err := badgesOf(badgesOfRoot)
	if err != nil {
		return err
	}
	return drawBadges(w, badges)
}

func record(w io.Writer, program string) error {
	cmd := exec.Command(program, "demo")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run %s demo: %w", program, err)
	}
	blocks := blocksOf(string(out))
	if len(blocks) == 0 {
		return errors.New("the demo printed nothing")
	}
	return draw(w, abridged(blocks))
}

// block is what appears at once: a heading, or a call with its answer.
type block []string

// blocksOf splits an output at its empty lines.
func blocksOf(out string) []block {
	var blocks []block
	for _, part := range strings.Split(out, "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			blocks = append(blocks, strings.Split(part, "\n"))
		}
	}
	return blocks
}

// storesShown is how many stores of the beginning a viewer watches.
const storesShown = 3

// abridged leaves out the further stores of the beginning.
func abridged(blocks []block) []block {
	var shown []block
	stores, headings := 0, 0
	for _, b := range blocks {
		if isHeading(b[0]) {
			headings++
		}
		if headings == 1 && strings.Contains(b[0], "memory_store") {
			if stores++; stores > storesShown {
				continue
			}
		}
		shown = append(shown, b)
	}
	return shown
}

func isHeading(line string) bool { return strings.HasPrefix(line, "── ") }
