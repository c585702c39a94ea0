// Command compare measures memory servers beside each other, each over MCP as a client uses it: how fast they start, store and search, how
// many tokens their tools take, what they find, and what they lose.
//
//	make compare
//
// The servers are pinned in package-lock.json; one that is not installed is left out. The labelled memories and questions are in testdata.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	program := flags.String("alcove", "bin/alcove", "the program")
	packages := flags.String("packages", "host/bench/compare", "the folder whose node_modules has the others")
	out := flags.String("json", "", "a file for the measures as JSON")
	readme := flags.String("readme", "", "a document with marks, between which the table is written")
	only := flags.String("only", "", "names of servers, with commas between them")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "when servers are killed")
	s := sizes{}
	flags.IntVar(&s.Starts, "starts", 5, "starts of each server")
	flags.IntVar(&s.Stores, "stores", 300, "stores that are timed, and memories that are searched")
	flags.IntVar(&s.Pairs, "pairs", 3, "pairs of processes that store at once")
	flags.IntVar(&s.Together, "together", 100, "stores of each of these")
	flags.IntVar(&s.Kills, "kills", 5, "kills of each server")
	flags.IntVar(&s.Before, "before", 100, "stores before a kill")
	if err := flags.Parse(args); err != nil {
		return err
	}
	list, node, err := installed(*program, *packages, *only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "compare") // a short path, for sockets in it
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	log("seed %d", *seed)
	b := bench{sizes: s, dir: dir, random: rand.New(rand.NewPCG(*seed, 1)), log: log}
	results, err := b.measure(ctx, list)
	if err != nil {
		return err
	}
	r := report{
		Date: time.Now().UTC().Format("2 January 2006"), Machine: fmt.Sprintf("%s/%s with %d cores, Node %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), node),
		Command: "make compare", Sizes: s, Servers: results,
	}
	return r.write(*out, *readme)
}

// installed are the servers that are there, and the version of Node.
func installed(program, packages, only string) (list []peer, node string, err error) {
	program, err = filepath.Abs(program)
	if err != nil {
		return nil, "", err
	}
	if packages, err = filepath.Abs(packages); err != nil {
		return nil, "", err
	}
	path, err := exec.LookPath("node")
	if err != nil {
		return nil, "", fmt.Errorf("the other servers need Node.js: %w", err)
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return nil, "", fmt.Errorf("ask Node for its version: %w", err)
	}
	for _, p := range peers(program, packages, path) {
		if only != "" && !strings.Contains(","+only+",", ","+p.name+",") {
			continue
		}
		if _, err := os.Stat(p.needs); err != nil {
			fmt.Fprintf(os.Stderr, "%s is not installed: %v\n", p.name, err)
			continue
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, "", errors.New("no server is installed: make build, and npm ci in host/bench/compare")
	}
	return list, strings.TrimPrefix(strings.TrimSpace(string(version)), "v"), nil
}

// write writes the measures as JSON and into a document, where these are given, and prints the table.
func (r report) write(out, readme string) error {
	table, err := r.markdown()
	if err != nil {
		return err
	}
	fmt.Print(table)
	if out != "" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(out, append(data, '\n'), 0o644); err != nil {
			return fmt.Errorf("write the measures: %w", err)
		}
	}
	if readme != "" {
		return r.insert(readme)
	}
	return nil
}
