package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/clients"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/sdk/client"
)

// hookTime is how long a hook may take, if its client does not say otherwise.
const hookTime = 2 * time.Second

// hookName is the name of the command, and hookMemory how much it allocates before garbage is collected, in bytes.
const (
	hookName   = "hook"
	hookMemory = 128 << 20
)

// neverFails marks a command that exits with 0 and prints no error, whatever happens: clients take a failed hook as a reason to stop.
const neverFails = "never-fails"

func (a *app) hookCommand() *cobra.Command {
	var o hook.Options
	var name string
	var within time.Duration
	c := &cobra.Command{
		Use:   hookName + " EVENT",
		Short: "Answer a client's hook: EVENT is " + strings.Join(hook.EventNames(), ", "),
		Long: `Read a client's hook message on standard input, and answer in the client's format.

  session-start   sends the agent the rules, decisions and changes of its project, when a session begins or was compacted
  user-prompt     sends it up to three memories on the subject of the prompt, each once in a session
  pre-compact, stop, session-end
                  store the new turns of the session from its transcript, as alcove import does

The command answers within --within or not at all, always exits with 0, and prints only its answer. Errors go to the
server's log; alcove doctor counts them. Only transcripts in the client's own folder are read. The next event stores the turns
that were left over.`,
		Example: `  echo '{"session_id": "s1", "cwd": "/home/ann/app", "prompt": "why do deploys halt?"}' | alcove hook user-prompt --client claude-code`,
		Args:    cobra.ArbitraryArgs, Annotations: map[string]string{neverFails: "true"},
	}
	flags := c.Flags()
	flags.StringVar(&name, "client", "", "whose hook it is, such as claude-code, codex, cursor, gemini or vscode (default: the answer is plain text)")
	flags.IntVar(&o.Brief, "brief-tokens", 0, "how many tokens session-start may tell (default 800)")
	flags.IntVar(&o.Recall, "prompt-tokens", 0, "how many tokens user-prompt may tell (default 300)")
	flags.StringSliceVar(&o.Origins, "origin", nil, "also tell memories of this origin, such as web; memories without an origin are always told")
	flags.DurationVar(&within, "within", hookTime, "how long it may take")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%d arguments given: usage: %s", len(args), c.UseLine())
		}
		ctx, cancel := context.WithTimeout(c.Context(), within)
		defer cancel()
		o.Namespace = a.scope.namespace
		var err error
		if o.Names, err = a.projectNames(); err != nil {
			return err
		}
		return a.runHook(ctx, hook.Client(name), hook.Event(args[0]), o)
	}
	return a.scoped(c)
}

// runHook answers a client's message in time, and notes the run.
func (a *app) runHook(ctx context.Context, c hook.Client, e hook.Event, o hook.Options) error {
	h := hook.Hook{Clock: time.Now, Options: o, Journal: a.hookJournal()}
	h.Ask = func(ctx context.Context, tool string, arguments any) (json.RawMessage, error) {
		return a.askAs(ctx, c, tool, arguments)
	}
	if a.elsewhere.url == "" {
		h.Transcripts = a.hookTranscripts()
	}
	type outcome struct {
		message hook.Message
		answer  []byte
		err     error
	}
	ended := make(chan outcome, 1)
	go func() { // it may hang in a read of standard input
		var out outcome
		defer func() {
			if r := recover(); r != nil {
				out.err = fmt.Errorf("panic: %v", r)
			}
			ended <- out
		}()
		if out.message, out.err = hook.ReadMessage(a.in, c, e); out.err == nil {
			out.answer, out.err = h.Answer(ctx, out.message)
		}
	}()
	out := outcome{message: hook.Message{Client: c, Event: e}}
	select {
	case out = <-ended:
	case <-ctx.Done():
		out.err = errors.New("there was no answer in time")
	}
	err := a.printHook(c, string(out.answer))
	return errors.Join(out.err, err, h.Note(out.message, len(out.answer) > 0, out.err))
}

// printHook prints an answer: memories may have what steers a terminal.
func (a *app) printHook(c hook.Client, answer string) error {
	if c == "" {
		return a.printf("%s", terminal.Lines(answer))
	}
	return a.printf("%s", terminal.JSON(answer))
}

// askAs calls a tool as the agent of a client.
func (a *app) askAs(ctx context.Context, c hook.Client, tool string, arguments any) (json.RawMessage, error) {
	if a.hooks == nil {
		branch, err := a.branch()
		if err != nil {
			return nil, err
		}
		agent := cmp.Or(a.scope.agent, string(c))
		dial, err := a.dialer(owner.Hello{Branch: branch, Agent: agent})
		if err != nil {
			return nil, err
		}
		s, err := client.NewSession(ctx, bridge.Connect(ctx, dial), client.Program{Name: cmp.Or(agent, "alcove"), Version: versionText()})
		if err != nil {
			return nil, err
		}
		a.hooks = s
	}
	result, err := a.hooks.Call(ctx, tool, arguments)
	return result.Structured, err
}

// hookTranscripts keeps turns where alcove import does.
func (a *app) hookTranscripts() *hook.Transcripts {
	branch := a.scope.branch
	return &hook.Transcripts{
		Folders: func(c hook.Client) []string {
			client, _ := clients.Find(string(c)) // an unknown one has no folders
			return client.Transcripts(a.machine(""))
		},
		Sink:    sink{&batcher{app: a, options: importOptions{branch: branch, quiet: true}, bar: noBar{}}},
		Cursors: cursors(a.data, branch, a.scope.namespace),
	}
}

// noBar shows no progress.
type noBar struct{}

func (noBar) Add64(int64) error { return nil }
func (noBar) Close() error      { return nil }

// hookJournal is what hooks keep between runs: in the data directory, or beside the settings for a server elsewhere.
func (a *app) hookJournal() *hook.Journal {
	dir := filepath.Join(a.data, "hooks")
	if file, err := a.settingsFile(); err == nil && a.elsewhere.url != "" {
		dir = strings.TrimSuffix(file, ".json") + "-hooks"
	}
	return &hook.Journal{Dir: dir, Clock: time.Now}
}

// logHook writes the error of a hook to the server's log, where its owner looks.
func (a *app) logHook(failed error) {
	dir, err := a.ownDir()
	if err != nil {
		return
	}
	log, err := owner.OpenLog(dir)
	if err != nil {
		return
	}
	defer log.Close()
	slog.New(slog.NewTextHandler(log, nil)).Error("a client's hook failed", "error", failed)
}

// examineHookRuns says which hooks ran, when one last did, and what failed.
func (a *app) examineHookRuns() (found []finding) {
	for _, r := range a.hookJournal().Runs() {
		f := finding{"hooks", fine, fmt.Sprintf("%s at %s: %d runs, %d answers, last at %s",
			cmp.Or(string(r.Client), "a client"), r.Event, r.Runs, r.Answers, clock(r.Last))}
		if r.Errors > 0 {
			f.Is, f.Says = noted, f.Says+fmt.Sprintf("; %d errors, last at %s: %s", r.Errors, clock(r.Failed), r.LastError)
		}
		found = append(found, f)
	}
	return found
}
