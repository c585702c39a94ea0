package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// hits is how many results a search asks for; of servers that give more, the first count.
const hits = 5

// call is one of a tool.
type call struct {
	tool      string
	arguments map[string]any
}

// peer is a memory server: how it is started on a data directory, and which of its tools stores and searches.
type peer struct {
	name   string
	needs  string // a file without which it is not installed
	line   []string
	env    func(dir string) []string
	store  func(key, text string) call
	search func(query string) call
	// Of a server whose data is in a process of its own: its number, and how it is ended. Nil: the client's child has the data.
	owner func(dir string) (pid int, err error)
	end   func(dir string) error
}

// peers are the servers to compare: the program, and those of npm that run without a model and without network.
func peers(program, packages, node string) []peer {
	script := func(name ...string) string {
		return filepath.Join(append([]string{packages, "node_modules"}, name...)...)
	}
	graph := script("@modelcontextprotocol", "server-memory", "dist", "index.js")
	libsql := script("mcp-memory-libsql", "dist", "index.js")
	keeper := script("mcp-memory-keeper", "dist", "index.js")
	devkit := script("@ai-devkit", "memory", "dist", "index.js")
	sqlite := script("better-sqlite3", "build", "Release", "better_sqlite3.node")
	return []peer{
		alcove(program),
		{
			name: "server-memory", needs: graph, line: []string{node, graph},
			env:   func(dir string) []string { return []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")} },
			store: entity, search: nodes,
		},
		{
			name: "mcp-memory-libsql", needs: libsql, line: []string{node, libsql},
			env:   func(dir string) []string { return []string{"LIBSQL_URL=file:" + filepath.Join(dir, "memory.db")} },
			store: entity,
			search: func(query string) call {
				return call{"search_nodes", map[string]any{"query": query, "limit": hits}}
			},
		},
		{
			name: "mcp-memory-keeper", needs: sqlite, line: []string{node, keeper},
			env: func(dir string) []string { return []string{"DATA_DIR=" + dir} },
			store: func(key, text string) call {
				return call{"context_save", map[string]any{"key": key, "value": text}}
			},
			search: func(query string) call { return call{"context_search", map[string]any{"query": query}} },
		},
		{
			name: "@ai-devkit/memory", needs: sqlite, line: []string{node, devkit}, // without its model, which it offers to download
			env: func(dir string) []string { return []string{"HOME=" + dir} },
			store: func(key, text string) call {
				const shortest = 50 // characters; the dots are no words
				return call{"memory_storeKnowledge", map[string]any{"title": "Entry " + key, "content": text + strings.Repeat(".", max(0, shortest-len(text)))}}
			},
			search: func(query string) call {
				return call{"memory_searchKnowledge", map[string]any{"query": query, "limit": hits}}
			},
		},
	}
}

func entity(key, text string) call {
	return call{"create_entities", map[string]any{"entities": []any{map[string]any{"name": key, "entityType": "memory", "observations": []string{text}}}}}
}

func nodes(query string) call { return call{"search_nodes", map[string]any{"query": query}} }

func alcove(program string) peer {
	return peer{
		name: "Alcove", needs: program, line: []string{program, "mcp"},
		env: func(dir string) []string { return []string{"ALCOVE_DATA=" + dir, "ALCOVE_LISTEN=off"} },
		store: func(key, text string) call {
			return call{"memory_store", map[string]any{"key": key, "value": text}}
		},
		search: func(query string) call { return call{"memory_search", map[string]any{"query": query, "k": hits}} },
		owner:  owner,
		end: func(dir string) error {
			out, err := exec.Command(program, "stop", "--data", dir).CombinedOutput()
			if err != nil {
				return fmt.Errorf("stop the server of %s: %w: %s", dir, err, out)
			}
			return nil
		},
	}
}

// owner reads which process has a data directory of Alcove.
func owner(dir string) (int, error) {
	data, err := os.ReadFile(filepath.Join(dir, "owner.json"))
	if err != nil {
		return 0, fmt.Errorf("find the server's process: %w", err)
	}
	var record struct{ PID int }
	if err := json.Unmarshal(data, &record); err != nil || record.PID <= 1 {
		return 0, errors.Join(fmt.Errorf("find the server's process: %q", data), err)
	}
	return record.PID, nil
}
