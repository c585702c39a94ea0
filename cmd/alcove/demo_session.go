package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/sdk/client"
)

// demonstration drives the server of a data directory by way of an MCP client, and prints each call with its answer.
type demonstration struct {
	app    *app
	client *client.Session
	log    *bytes.Buffer // of alcove mcp, once the client is closed
	dir    string
	stored map[string]string // what was acknowledged on the branch default, by key
	before string            // the merge: a moment, in RFC 3339
	report demoReport
}

// demoReport is what a demonstration found.
type demoReport struct {
	Calls     int            `json:"calls"`
	Questions []demoQuestion `json:"questions"`
	Kill      demoKill       `json:"kill"`
	Seconds   float64        `json:"seconds"`
}

// demoQuestion is one question, with the key of the memory that answers it and the key that was found first.
type demoQuestion struct {
	Query string `json:"query"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

// demoKill tells what a killed server had acknowledged, and what the next one lacks.
type demoKill struct {
	Killed       int      `json:"killed"` // the process
	Next         int      `json:"next"`   // the process that serves since
	Acknowledged int      `json:"acknowledged"`
	Lost         []string `json:"lost"` // keys
}

func (r *demoReport) loss() error {
	if len(r.Kill.Lost) == 0 {
		return nil
	}
	return fmt.Errorf("after the kill, what was stored as %s is not what is there", strings.Join(r.Kill.Lost, ", "))
}

// right is how many questions found their answer first.
func (r *demoReport) right() int {
	n := 0
	for _, q := range r.Questions {
		if q.Got == q.Want {
			n++
		}
	}
	return n
}

// demoEnvironment has the demo's server listen nowhere, and keeps the settings of the caller's own memory out of it.
func demoEnvironment() []string {
	env := append(os.Environ(), "ALCOVE_LISTEN=off", "ALCOVE_PROJECT=off")
	for _, name := range []string{"URL", "KEY", "NAMESPACE", "BRANCH", "PROFILE", "FAMILIES", "FAMILIES_DIR", "EMBEDDER", "POSTURE", "LOCKED", "LANGUAGE", "BM25", "CONVERSATIONS"} {
		env = append(env, "ALCOVE_"+name+"=")
	}
	return env
}

func (a *app) newDemonstration(ctx context.Context, dir string) (*demonstration, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	log := new(bytes.Buffer)
	conn, err := runStdio(ctx, log, demoEnvironment(), program, "mcp", "--data", dir, "--agent", "demo")
	if err != nil {
		return nil, err
	}
	c, err := newSession(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("introduce the demo's client to alcove mcp: %w", err)
	}
	_, tools, err := c.Tools(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list the tools: %w", err), c.Close())
	}
	d := &demonstration{app: a, client: c, log: log, dir: dir, stored: map[string]string{}}
	d.print("%s  an MCP client runs alcove mcp: %s %s, %d tools\n", a.bold("Alcove"), c.Server().Name, c.Server().Version, len(tools))
	return d, nil
}

func (d *demonstration) run(ctx context.Context) error {
	parts := []func(context.Context) error{d.remember, d.ask, d.branch, d.rewind}
	if guests.Embedded() {
		parts = append(parts, d.loadFamily)
	}
	for _, part := range append(parts, d.kill) {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// remember stores the project's memory.
func (d *demonstration) remember(ctx context.Context) error {
	d.heading("Remember a small project")
	for _, m := range demoMemories() {
		if err := d.store(ctx, m.key, m.value); err != nil {
			return err
		}
	}
	return nil
}

// store stores a memory, and records the acknowledged value and its time.
func (d *demonstration) store(ctx context.Context, key, value string) error {
	answer, err := d.call(ctx, "memory_store", arg{"key", key}, arg{"value", value})
	if err != nil {
		return err
	}
	var receipt struct{ Timestamp string }
	if err := json.Unmarshal(answer.Structured, &receipt); err != nil || receipt.Timestamp == "" {
		return fmt.Errorf("read the time of an answer: %s has none", answer.Structured)
	}
	d.stored[key], d.before = value, receipt.Timestamp
	return nil
}

// ask asks questions that share hardly a word with their answers.
func (d *demonstration) ask(ctx context.Context) error {
	d.heading("Ask in other words: the built-in embedder needs no network")
	for _, q := range demoQuestions() {
		answer, err := d.call(ctx, "memory_search", arg{"query", q.Query}, arg{"k", 1})
		if err != nil {
			return err
		}
		if q.Got, err = firstKey(answer); err != nil {
			return err
		}
		d.report.Questions = append(d.report.Questions, q)
	}
	return nil
}

func firstKey(answer client.ToolResult) (string, error) {
	var found struct{ Results []struct{ Key string } }
	if err := json.Unmarshal(answer.Structured, &found); err != nil {
		return "", fmt.Errorf("read the answer of memory_search: %w", err)
	}
	if len(found.Results) == 0 {
		return "", nil
	}
	return found.Results[0].Key, nil
}

// branch tries an idea on a branch and merges it.
func (d *demonstration) branch(ctx context.Context) error {
	d.heading("Try an idea on a branch: a fork takes no time, whatever the size")
	idea := map[string]string{"deploy/day": "We deploy every day before noon", "deploy/canary": "One machine first, the others an hour later"}
	if err := d.calls(ctx,
		demoCall{"memory_branch", []arg{{"action", "fork"}, {"name", "idea"}}},
		demoCall{"memory_store", []arg{{"key", "deploy/day"}, {"value", idea["deploy/day"]}, {"branch", "idea"}}},
		demoCall{"memory_store", []arg{{"key", "deploy/canary"}, {"value", idea["deploy/canary"]}, {"branch", "idea"}}},
		demoCall{"memory_recall", []arg{{"key", "deploy/day"}}},
	); err != nil {
		return err
	}
	d.heading("Preview the merge, then merge")
	if err := d.calls(ctx,
		demoCall{"memory_branch", []arg{{"action", "merge"}, {"source", "idea"}, {"preview", true}}},
		demoCall{"memory_branch", []arg{{"action", "merge"}, {"source", "idea"}}},
	); err != nil {
		return err
	}
	for key, value := range idea {
		d.stored[key] = value
	}
	return nil
}

// rewind reads the moment before the merge.
func (d *demonstration) rewind(ctx context.Context) error {
	d.heading("Rewind: nothing is overwritten")
	return d.calls(ctx,
		demoCall{"memory_recall", []arg{{"key", "deploy/day"}}},
		demoCall{"memory_recall", []arg{{"key", "deploy/day"}, {"as_of", d.before}}},
		demoCall{"memory_history", []arg{{"key", "deploy/day"}}},
	)
}

func (d *demonstration) loadFamily(ctx context.Context) error {
	d.heading("Load tools when they are needed: each family runs in a sandbox of its own")
	return d.calls(ctx,
		demoCall{"memory_load_family", []arg{{"intent", "give my memories tags"}}},
		demoCall{"memory_suggest_tags", []arg{{"text", "Grace Hopper decided on 2026-03-02 that releases go out from the Lisbon office"}}},
	)
}

// kill ends the server without notice right behind an acknowledged store, and compares what the next one has.
func (d *demonstration) kill(ctx context.Context) error {
	d.heading("Kill the server: the client's next call finds another")
	if err := d.store(ctx, "last/words", "Acknowledged a moment before the kill"); err != nil {
		return err
	}
	pid, running := serving(d.dir)
	if !running || pid == 0 {
		return fmt.Errorf("kill the server of %s: none says that it runs", d.dir)
	}
	if err := killProcess(pid); err != nil {
		return err
	}
	d.print("\n  %s %d\n", d.app.out.Style(terminal.Yellow, "kill -9"), pid)
	if _, err := d.call(ctx, "memory_recall", arg{"key", "last/words"}); err != nil {
		return err
	}
	d.report.Kill = demoKill{Killed: pid, Acknowledged: len(d.stored), Lost: []string{}}
	d.report.Kill.Next, _ = serving(d.dir)
	return d.compare(ctx)
}

func killProcess(pid int) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return nil
}

// compare recalls every acknowledged memory, and records those whose value differs.
func (d *demonstration) compare(ctx context.Context) error {
	for key, value := range d.stored {
		answer, err := d.client.Call(ctx, "memory_recall", map[string]any{"key": key})
		if err != nil {
			return fmt.Errorf("recall %s after the kill: %w", key, err)
		}
		d.report.Calls++
		var is struct{ Value string }
		if json.Unmarshal(answer.Structured, &is) != nil || is.Value != value {
			d.report.Kill.Lost = append(d.report.Kill.Lost, key)
		}
	}
	slices.Sort(d.report.Kill.Lost)
	return nil
}

// end closes the client. After a failure it prints what alcove mcp logged.
func (d *demonstration) end(err error) error {
	err = errors.Join(err, d.client.Close())
	if err != nil {
		d.app.notef("%s", d.log.String())
	}
	return err
}

// conclude prints the report.
func (d *demonstration) conclude() error {
	r := d.report
	if d.app.asJSON {
		return d.app.printJSON(r)
	}
	d.print("\n  %d of %d memories that the killed server had acknowledged are there: process %d serves now.\n", r.Kill.Acknowledged-len(r.Kill.Lost), r.Kill.Acknowledged, r.Kill.Next)
	d.heading(fmt.Sprintf("%d calls in %.1f s; %d of %d questions found their answer first", r.Calls, r.Seconds, r.right(), len(r.Questions)))
	return nil
}
