// Command collect turns collections of judged questions, as their authors publish them, into what alcove bench recall
// reads. It downloads nothing: the collections have licences of their own.
//
//	collect locomo locomo10.json OUT [CONVERSATIONS]      OUT.docs.jsonl and OUT.queries.jsonl; the first 3 conversations
//	collect cranfield cran.all.1400 cran.qry cranqrel OUT
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// document and query are lines of the output.
type document struct {
	ID   string         `json:"id"`
	Text string         `json:"text"`
	Meta map[string]any `json:"meta"`
}

type query struct {
	ID       string         `json:"id"`
	Text     string         `json:"text"`
	Relevant map[string]int `json:"relevant"`
	Meta     map[string]any `json:"meta"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("use it as collect locomo locomo10.json OUT [CONVERSATIONS], or collect cranfield cran.all.1400 cran.qry cranqrel OUT")

func run(args []string) error {
	switch {
	case len(args) >= 3 && len(args) <= 4 && args[0] == "locomo":
		most := 3
		if len(args) == 4 {
			n, err := strconv.Atoi(args[3])
			if err != nil {
				return errUsage
			}
			most = n
		}
		docs, queries, err := locomo(args[1], most)
		if err != nil {
			return err
		}
		return write(args[2], docs, queries)
	case len(args) == 5 && args[0] == "cranfield":
		docs, queries, err := cranfield(args[1], args[2], args[3])
		if err != nil {
			return err
		}
		return write(args[4], docs, queries)
	}
	return errUsage
}

func write(out string, docs []document, queries []query) error {
	if err := writeLines(out+".docs.jsonl", docs); err != nil {
		return err
	}
	fmt.Printf("%d documents, %d questions\n", len(docs), len(queries))
	return writeLines(out+".queries.jsonl", queries)
}

func writeLines[T any](path string, list []T) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(f)
	lines.SetEscapeHTML(false)
	for _, v := range list {
		if err := lines.Encode(v); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}
