// Listing measures what clients are shown of the tools, for each profile: tokens and bytes of the list, whether what users say finds the tool
// by the searches that clients have, and how many turns a scripted client needs from what a user says to the call.
//
//	go run -tags guests ./host/bench/listing -o docs/guides/clients.md
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// What encloses the tables in a document.
const begin, end = "<!-- listing -->\n", "<!-- /listing -->\n"

func main() {
	var to string
	var verbose bool
	flag.StringVar(&to, "o", "", "write the tables between the marks of this document")
	flag.BoolVar(&verbose, "v", false, "print what is not found among the first five")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, to, verbose); err != nil {
		fmt.Fprintln(os.Stderr, "listing:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, to string, verbose bool) error {
	var report string
	err := serve(ctx, func(s *server) (err error) {
		report, err = s.report(verbose)
		return err
	})
	if err != nil {
		return err
	}
	if to == "" {
		fmt.Print(report)
		return nil
	}
	return insert(to, report)
}

func (s *server) report(verbose bool) (string, error) {
	shown, err := s.profiles()
	if err != nil {
		return "", err
	}
	sets, err := intentSets()
	if err != nil {
		return "", err
	}
	found, err := s.searches(sets, verbose)
	if err != nil {
		return "", err
	}
	turns, err := s.turns(sets)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{shown, found, turns}, "\n"), nil
}

// insert writes tables between the marks of a document.
func insert(path, tables string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the tables: %w", err)
	}
	before, rest, ok := bytes.Cut(data, []byte(begin))
	_, after, more := bytes.Cut(rest, []byte(end))
	if !ok || !more {
		return errors.New(path + " lacks the marks " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%s%s%s%s%s", before, begin, tables, end, after), 0o644)
}
