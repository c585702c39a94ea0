package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/capture/project"
	"github.com/alcove-memory/alcove/host/operator"
)

// projectMove is a rename or merge of projects, as a command asks for it.
type projectMove struct {
	from, to string // namespaces
	strategy string
	dry      bool
	merge    bool // the second project may have memories
}

func (a *app) projectRenameCommand() *cobra.Command {
	m := projectMove{}
	c := &cobra.Command{
		Use: "rename NAME NEW", Short: "Rename a project: its memories move, its folders and former name redirect",
		Long: `Give a project another name. From then on its folders, links and former names lead to the new one; then its memories and the
records of families move there, on all branches, in commits of up to 2,000. Whatever ends the command, each is in one of the two, and
the same command completes it. Histories, events of the log, subscriptions and seals stay under the former name.

alcove project undo undoes it.`,
		Example: `  alcove project rename acme/app acme/shop --dry-run`,
		Args:    arguments(2, 2), RunE: func(c *cobra.Command, args []string) error { return a.moveProject(c.Context(), m, args) },
	}
	c.Flags().BoolVar(&m.dry, "dry-run", false, "show what would move, and change nothing")
	return c
}

func (a *app) projectMergeCommand() *cobra.Command {
	m := projectMove{merge: true}
	c := &cobra.Command{
		Use: "merge NAME INTO", Short: "Merge a project into another: its memories move, its folders and name redirect",
		Long: `Move the memories of a project into another one, as alcove project rename does. Keys that both have with different memories stop
it before anything is changed, and are listed, unless --strategy takes a side: source (of NAME), target (of INTO) or newest. Of records of
families that differ, the newer one is taken unless the strategy says otherwise.

alcove project undo undoes it.`,
		Example: `  alcove project merge notes-1a2b3c4d acme/app --dry-run
  alcove project merge notes-1a2b3c4d acme/app --strategy newest`,
		Args: arguments(2, 2), RunE: func(c *cobra.Command, args []string) error { return a.moveProject(c.Context(), m, args) },
	}
	c.Flags().StringVar(&m.strategy, "strategy", "strict", "for keys with different memories: strict, source, target or newest")
	c.Flags().BoolVar(&m.dry, "dry-run", false, "show what would move, and change nothing")
	return c
}

// moveProject looks first, and has names lead to the second project before memories move: what is stored meanwhile is stored there.
func (a *app) moveProject(ctx context.Context, m projectMove, args []string) (err error) {
	m.from, err = project.Called(args[0])
	if err == nil {
		m.to, err = project.Called(args[1])
	}
	if err == nil && m.from == m.to {
		err = fmt.Errorf("%s is the same project: name another one", m.to)
	}
	if err != nil {
		return &usageError{err}
	}
	id := "move-" + strings.ToLower(rand.Text()[:16])
	would, err := call(ctx, a, operator.MoveMemories, m.request(id, true))
	if err != nil {
		return a.withClashes(ctx, m, id, err)
	}
	if err := a.checkMove(ctx, m, would); err != nil {
		return err
	}
	if m.dry {
		return a.printMove(m, "", would)
	}
	if id, err = a.renameTo(ctx, m, id); err != nil {
		return err
	}
	done, err := call(ctx, a, operator.MoveMemories, m.request(id, false))
	if err != nil {
		return fmt.Errorf("%w (%s leads to %s by now; the same command moves the rest, alcove project undo undoes it)", err, m.from, m.to)
	}
	return a.printMove(m, id, done)
}

func (m projectMove) request(id string, dry bool) operator.MoveRequest {
	return operator.MoveRequest{ID: id, From: m.from, To: m.to, Strategy: operator.Strategy(m.strategy), DryRun: dry}
}

// checkMove refuses a move of nothing, and a rename to a project that has memories, unless it was interrupted.
func (a *app) checkMove(ctx context.Context, m projectMove, would operator.MovedMemories) error {
	names, err := a.projectNames()
	if err != nil {
		return err
	}
	if names.Renamed[m.from] == m.to {
		return nil
	}
	s, err := a.session(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	counts, err := projectCounts(ctx, s)
	switch {
	case err != nil:
		return err
	case !m.merge && counts[m.to] > 0:
		return &usageError{fmt.Errorf("%s has %d memories of its own: alcove project merge %s %[1]s moves those of %[3]s there", m.to, counts[m.to], m.from)}
	case would.Memories+len(would.Records)+len(would.Left)+would.Same+would.Clashes+len(names.Folders(m.from))+len(names.FormerOf(m.from)) == 0 && a.placeHere(names).Namespace != m.from:
		return notFound("there is no project %s: alcove project list shows those there are", m.from)
	}
	return nil
}

// renameTo has the name lead to the other one, and returns the id of the move: of the one that was interrupted, if there was one.
func (a *app) renameTo(ctx context.Context, m projectMove, id string) (string, error) {
	return id, a.updateProjects(ctx, func(n *project.Names) error {
		for _, before := range slices.Backward(n.Moves) {
			if before.From == m.from && before.To == m.to && n.Renamed[m.from] == m.to {
				id = before.ID
				return nil
			}
		}
		return n.Rename(project.Move{ID: id, From: m.from, To: m.to, At: time.Now().UTC()})
	})
}

// withClashes lists the keys that stop a merge.
func (a *app) withClashes(ctx context.Context, m projectMove, id string, stopped error) error {
	m.strategy = "newest"
	would, err := call(ctx, a, operator.MoveMemories, m.request(id, true))
	if err != nil || would.Clashes == 0 {
		return stopped
	}
	for _, c := range would.Clashing {
		if c.Collection != "" {
			continue
		}
		err = errors.Join(err, a.notef("differs  %s, on branch %s: v%d and v%d\n", c.Key, c.Branch, c.From, c.To))
	}
	return errors.Join(err, stopped)
}

func (a *app) printMove(m projectMove, id string, done operator.MovedMemories) error {
	if a.asJSON {
		return a.printJSON(struct {
			ID   string `json:"id,omitempty"`
			From string `json:"from"`
			To   string `json:"to"`
			operator.MovedMemories
		}{id, m.from, m.to, done})
	}
	for _, c := range done.Clashing {
		a.printf("differs  %s\n", differing(c))
	}
	for _, collection := range slices.Sorted(maps.Keys(done.Records)) {
		a.printf("moves    %s of %s\n", counted(done.Records[collection], "record"), collection)
	}
	for _, collection := range slices.Sorted(maps.Keys(done.Left)) {
		a.printf("stays    %s of %s\n", counted(done.Left[collection], "entry"), collection)
	}
	verb := "moved"
	if m.dry {
		verb = "to move"
	}
	err := a.printf("%s %s from %s to %s, %d were there already, %d keys differ\n",
		counted(done.Memories, "memory"), verb, m.from, m.to, done.Same, done.Clashes)
	if m.dry {
		return errors.Join(err, a.notef("Nothing was changed: repeat it without --dry-run.\n"))
	}
	return errors.Join(err, a.printf("%s leads to %s; alcove project undo undoes it\n", m.from, m.to))
}

// differing tells what is taken for a key of both projects.
func differing(c operator.Clashing) string {
	what, where := "memory", ""
	if c.Collection != "" {
		what = "record of " + c.Collection
	}
	if c.Branch != "" {
		where = ", on branch " + c.Branch
	}
	return fmt.Sprintf("%s%s: the %s of the %s is taken", c.Key, where, what, c.Taken)
}

func (a *app) projectUndoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "undo [NAME]", Short: "Undo the last rename or merge, or the last one of NAME",
		Long: `Take back the last rename or merge, or the last one of a project NAME: names lead where they did, and memories go back, but
for those that were changed since, which are listed. What was stored since stays. Whatever ends the command, repeating it completes it.`,
		Args: arguments(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			names, err := a.projectNames()
			if err != nil {
				return err
			}
			name := ""
			if len(args) == 1 {
				if name, err = project.Called(args[0]); err != nil {
					return &usageError{err}
				}
			}
			for _, m := range slices.Backward(names.Moves) {
				if name == "" || m.From == name {
					return a.undoMove(c.Context(), m)
				}
			}
			return notFound("there is no rename or merge to undo")
		},
	}
}

// undoMove has memories go back, the last commit first, and then the names.
func (a *app) undoMove(ctx context.Context, m project.Move) error {
	var commits []string
	for {
		id := fmt.Sprintf("%s.%d", m.ID, len(commits)+1)
		would, err := call(ctx, a, operator.UndoFamily, operator.UndoRequest{Call: id, Since: m.At.Add(-time.Hour)})
		if err != nil {
			return err
		}
		if would.Commits == 0 {
			break
		}
		commits = append(commits, id)
	}
	reverted := 0
	for _, id := range slices.Backward(commits) {
		done, err := call(ctx, a, operator.UndoFamily, operator.UndoRequest{Call: id, Since: m.At.Add(-time.Hour), Apply: true})
		if err != nil {
			return fmt.Errorf("%w (repeat the command to undo the rest)", err)
		}
		for _, e := range done.Kept {
			err = errors.Join(err, a.notef("keep  %s: %s\n", reversed(e), e.Why))
		}
		for _, e := range done.Reverted {
			if !e.Deletes && e.Namespace == m.From && e.Collection == "" {
				reverted++
			}
		}
		if err != nil {
			return err
		}
	}
	err := a.updateProjects(ctx, func(n *project.Names) error {
		n.Undo(m.ID)
		return nil
	})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"from": m.From, "to": m.To, "memories": reverted})
	}
	return a.printf("moved back %s; %s is a separate project again\n", counted(reverted, "memory"), m.From)
}
