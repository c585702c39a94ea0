package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/weburl"
)

func (a *app) auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "audit", Short: "Show and verify the audit log: what families did, and their grants",
		Long: `The audit log is in the folder audit of the data directory: each module that was loaded or refused, each grant, and each call of
a family with its caller, operations, fuel, memory, outcome, denials and the version that it wrote, without values. Each entry has the
hash of all before it. Anyone who can write to the folder can write a new log; only a head that was kept elsewhere shows that. Keep heads
with alcove serve --audit-anchor, or note down the one that alcove audit verify prints.`,
	}
	c.AddCommand(a.auditVerifyCommand(), a.auditTailCommand(), a.auditDenialsCommand(), a.auditExportCommand())
	return c
}

// auditDir returns the folder of the audit log and, if a server has it open, the log's head.
func (a *app) auditDir(ctx context.Context) (dir string, head operator.AuditHead, err error) {
	data, err := a.ownDir()
	if err != nil {
		return "", head, err
	}
	dir = owner.AuditPath(data)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", head, notFound("there is no audit log in %s: a server with families keeps one", data)
	}
	if owner.CheckFree(data) == nil { // no server runs, and the files are complete
		return dir, head, nil
	}
	o := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, data) })
	defer o.Close()
	if h, err := operator.Query(ctx, o, operator.GetAuditHead); err == nil { // else it has just ended
		head = h
	}
	return dir, head, ctx.Err()
}

func (a *app) auditVerifyCommand() *cobra.Command {
	var anchor string
	var kept []string
	var restored bool
	c := &cobra.Command{
		Use: "verify", Short: "Verify the audit log, and that it has the heads that were kept elsewhere", Args: noArguments,
		Example: `  alcove audit verify
  alcove audit verify --anchor /mnt/worm/alcove.anchor
  alcove audit verify --head 1042:6d0c…`,
		RunE: func(c *cobra.Command, _ []string) error {
			var heads []audit.Head
			if anchor != "" {
				var err error
				if heads, err = audit.Anchored(anchor); err != nil {
					return err
				}
			}
			for _, text := range kept {
				h, err := audit.ParseHead(text)
				if err != nil {
					return &usageError{fmt.Errorf("--head: %w", err)}
				}
				heads = append(heads, h)
			}
			verify := audit.Verify
			if restored {
				verify = audit.VerifyRestored
			}
			return a.auditVerify(c.Context(), heads, verify)
		},
	}
	c.Flags().StringVar(&anchor, "anchor", "", "a file of heads, as alcove serve --audit-anchor writes it")
	c.Flags().StringArrayVar(&kept, "head", nil, "a head that was noted down, as NUMBER:HASH")
	c.Flags().BoolVar(&restored, "restored", false, "the data directory was restored from a backup: its log may have begun then")
	return c
}

func (a *app) auditVerify(ctx context.Context, heads []audit.Head, verify func(dir string, heads []audit.Head) (audit.Report, error)) error {
	dir, now, err := a.auditDir(ctx)
	if err != nil {
		return err
	}
	given := len(heads)
	if now.Seq != 0 {
		heads = append(heads, now)
	}
	r, err := verify(dir, heads)
	if err != nil {
		return err
	}
	if now.Seq == 0 && r.Torn > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d bytes at the end are an incomplete entry: the next server removes them and logs it", r.Torn))
	}
	if a.asJSON {
		err = a.printJSON(r)
	} else {
		err = a.printAuditReport(r, given)
	}
	if err == nil && len(r.Problems) > 0 {
		return fmt.Errorf("the audit log in %s differs from what was written: %s", dir, counted(len(r.Problems), "problem"))
	}
	return err
}

func (a *app) printAuditReport(r audit.Report, given int) error {
	for _, p := range r.Problems {
		a.printf("BAD %s\n", p)
	}
	a.printf("%s in %s, from entry %d\nhead %d:%s\n", counted(r.Entries, "entry"), counted(r.Files, "file"), r.First, r.Head.Seq, r.Head.Hash)
	if given == 0 {
		return a.notef("No earlier head was given: this detects damage, but not a log that was rewritten or truncated. Give a head that was kept elsewhere with --head or --anchor.\n")
	}
	if r.Removed != nil {
		a.notef("Entries up to %d were deleted by retention: the log continues from their head.\n", r.Removed.Seq)
	}
	if from := r.Restored; from != nil && len(r.Problems) == 0 {
		at := from.At.UTC().Format("2006-01-02 15:04:05")
		if from.Here {
			a.notef("The data directory was restored from a backup at %s: the log up to entry %d came with it.\n", at, from.Head.Seq)
		} else {
			a.notef("The data directory was restored from a backup, and this log began then, %s: entries 1 to %d are only in the former log. Verify the former log with the same heads.\n", at, from.Head.Seq)
		}
		if from.Last > from.Head.Seq {
			a.notef("Entries %d to %d of the former log were written after the backup: the restored store does not have what they record.\n", from.Head.Seq+1, from.Last)
		}
	}
	if r.Older > 0 {
		a.notef("The log no longer keeps the entries of %s.\n", counted(r.Older, "head"))
	}
	if len(r.Problems) > 0 {
		return nil
	}
	return a.printf("agrees with %d of %d heads that were kept elsewhere\n", given-r.Older, given)
}

// auditFilter selects entries.
type auditFilter struct {
	family, agent, kind, since string
	from                       time.Time
}

func (f *auditFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.family, "family", "", "only entries of this family")
	c.Flags().StringVar(&f.kind, "kind", "", "only entries of this kind, such as call, wrote, granted, denied")
	c.Flags().StringVar(&f.since, "since", "", "only entries since then, such as 30m, 2d, 2026-11-01 or an instant")
}

func (f *auditFilter) parse() (err error) {
	if f.since == "" {
		return nil
	}
	if f.from, err = sinceOf(f.since, time.Now()); err != nil {
		return &usageError{err}
	}
	return nil
}

func (f *auditFilter) matches(e audit.Entry) bool {
	return (f.family == "" || e.Family == f.family) && (f.kind == "" || string(e.Kind) == f.kind) && !e.Time.Before(f.from)
}

// mostTail bounds the entries of a tail, which are kept in memory.
const mostTail = 10_000

func (a *app) auditTailCommand() *cobra.Command {
	var f auditFilter
	var n int
	c := &cobra.Command{
		Use: "tail", Short: "Show the newest entries of the audit log", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > mostTail {
				return &usageError{fmt.Errorf("-n %d: give a number from 1 to %d; alcove audit export writes all entries", n, mostTail)}
			}
			list, err := a.audited(c.Context(), &f, n)
			if err != nil {
				return err
			}
			return printEach(a, list, func(e audit.Entry) error { return a.printf("%s\n", terminal.Lines(entryLine(e))) })
		},
	}
	c.Flags().IntVarP(&n, "lines", "n", 20, "how many")
	f.flags(c)
	return c
}

// audited returns the newest entries that a filter selects, oldest first.
func (a *app) audited(ctx context.Context, f *auditFilter, n int) (list []audit.Entry, err error) {
	if err := f.parse(); err != nil {
		return nil, err
	}
	q := audit.Query{Limit: n, Since: f.from, Family: f.family}
	if f.kind != "" {
		q.Kinds = []audit.Kind{audit.Kind(f.kind)}
	}
	found, err := a.findAudit(ctx, q)
	slices.Reverse(found.Entries)
	return found.Entries, err
}

// findAudit finds entries in the log of the data directory, or of a server elsewhere.
func (a *app) findAudit(ctx context.Context, q audit.Query) (audit.Page, error) {
	if a.elsewhere.admin != "" {
		q.Limit = min(q.Limit, mostRules)
		p, err := call(ctx, a, operator.ListAudit, q)
		return p.Page, err
	}
	dir, _, err := a.auditDir(ctx)
	if err != nil {
		return audit.Page{}, err
	}
	return audit.Find(ctx, dir, q)
}

func entryLine(e audit.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d  %s  %s", e.Seq, e.Time.UTC().Format("2006-01-02 15:04:05"), terminal.Line(string(e.Kind)))
	for _, field := range []struct{ name, value string }{
		{"", e.Family}, {"", e.Work}, {"by ", cmp.Or(e.Person, e.Agent, e.Key)}, {"call ", e.Call}, {"on ", e.Branch}, {"in ", e.Namespace}, {"", e.Outcome}, {"version ", number(e.Version)}, {"of ", number(e.Of)},
	} {
		if field.value != "" {
			fmt.Fprintf(&b, "  %s%s", field.name, terminal.Line(field.value))
		}
	}
	if e.Kind == audit.Called {
		fmt.Fprintf(&b, "  fuel %d  memory %d  %d µs", e.Fuel, e.Memory, e.Took)
	}
	for _, d := range e.Denied {
		fmt.Fprintf(&b, "\n    denied %s ×%d: %s", terminal.Line(d.Op), d.Count, terminal.Line(d.Rule))
	}
	for _, more := range []struct{ name, text string }{{"", e.Detail}, {"why: ", e.Reason}} {
		if more.text != "" {
			fmt.Fprintf(&b, "\n    %s%s", more.name, terminal.Line(more.text))
		}
	}
	return b.String()
}

func number(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func (a *app) auditExportCommand() *cobra.Command {
	var f auditFilter
	var from operator.AuditFollowing
	c := &cobra.Command{
		Use: "export", Short: "Write the audit log to standard output, an entry of JSON a line",
		Long: `Write the lines of the audit log as they are, with their hashes. Without a filter, they verify in their order.

With --follow the command goes on with the entries to come, through restarts of the server and the ends of files. A collector keeps the member
seq of the last line, and begins again with --after SEQ: nothing is lost or repeated. Entries that were deleted before they were read are named on standard error.`,
		Example: `  alcove audit export --since 1d > audit.jsonl
  alcove audit export --follow --after 1042`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.parse(); err != nil {
				return err
			}
			if a.elsewhere.admin != "" {
				return a.exportElsewhere(c.Context(), &f, from)
			}
			return a.exportAudit(c.Context(), &f, from)
		},
	}
	f.flags(c)
	c.Flags().Uint64Var(&from.After, "after", 0, "only entries with higher numbers")
	c.Flags().BoolVar(&from.Follow, "follow", false, "continue with new entries until interrupted")
	return c
}

func (a *app) exportAudit(ctx context.Context, f *auditFilter, from operator.AuditFollowing) error {
	dir, _, err := a.auditDir(ctx)
	if err != nil {
		return err
	}
	log := audit.Follower{Dir: dir, After: from.After}
	write := func(line []byte, e audit.Entry) error {
		if !f.matches(e) {
			return nil
		}
		_, err := a.out.Write(line)
		return err
	}
	missed := func(g audit.Gap) error {
		return a.notef("entries %d to %d were deleted before they were read\n", g.From, g.To)
	}
	if from.Follow {
		return log.Run(ctx, write, missed)
	}
	return errors.Join(log.Next(ctx, write, missed), ctx.Err())
}

// exportElsewhere is exportAudit for a server elsewhere.
func (a *app) exportElsewhere(ctx context.Context, f *auditFilter, from operator.AuditFollowing) error {
	lines, to := io.Pipe()
	go func() { to.CloseWithError(receive(ctx, a, operator.FollowAudit, from, to)) }()
	in := bufio.NewReader(lines)
	for {
		line, err := in.ReadBytes('\n')
		var e audit.Entry
		if len(line) > 0 && json.Unmarshal(line, &e) == nil && f.matches(e) {
			if _, err := a.out.Write(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || err != nil && from.Follow && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (a *app) whyDeniedCommand() *cobra.Command {
	f := auditFilter{}
	c := &cobra.Command{
		Use: "why-denied NAME", Short: "Show denied operations of a family and the rules that denied them", Args: arguments(1, 1),
		Example: "  alcove family why-denied notes --since 1h",
		RunE: func(c *cobra.Command, args []string) error {
			f.family = args[0]
			return a.whyDenied(c.Context(), &f)
		},
	}
	c.Flags().StringVar(&f.since, "since", "", "start, as 30m, 2d, 2026-11-01 or an RFC 3339 time")
	return c
}

func (a *app) whyDenied(ctx context.Context, f *auditFilter) error {
	p, err := a.denied(ctx, f)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(p.Denials)
	}
	if len(p.Denials) > 0 {
		return a.printDenials(p.Denials, false)
	}
	all, err := a.audited(ctx, f, mostTail)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return a.notef("The audit log has no entries of a family %s in that time: alcove family list shows the names.\n", f.family)
	}
	return a.notef("No denials in the newest %d entries of family %s, since %s.\n", len(all), f.family, all[0].Time.UTC().Format(time.RFC3339))
}

// denied groups denials by the rule that refused them.
func (a *app) denied(ctx context.Context, f *auditFilter) (p operator.DenialPage, err error) {
	if err := f.parse(); err != nil {
		return p, err
	}
	q := audit.Query{Since: f.from, Family: f.family, Agent: f.agent, Limit: mostRules}
	if a.elsewhere.admin != "" {
		return call(ctx, a, operator.ListDenials, q)
	}
	dir, _, err := a.auditDir(ctx)
	if err != nil {
		return p, err
	}
	return audit.FindDenials(ctx, dir, q)
}

// mostRules bounds the rules that a command shows, and the entries that a server elsewhere is asked for at once.
const mostRules = 500

func (a *app) auditDenialsCommand() *cobra.Command {
	f := auditFilter{}
	c := &cobra.Command{
		Use: "denials", Short: "Show what families and clients were denied, by the rule that refused it", Args: noArguments,
		Example: "  alcove audit denials --since 1d",
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.denied(c.Context(), &f)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(p)
			}
			if len(p.Denials) == 0 {
				return a.notef("Nothing was denied in that time.\n")
			}
			if err := a.printDenials(p.Denials, true); err != nil || p.Left == 0 {
				return err
			}
			return a.notef("%d further rules denied something: select with --since, --family and --agent.\n", p.Left)
		},
	}
	c.Flags().StringVar(&f.since, "since", "", "start, as 30m, 2d, 2026-11-01 or an RFC 3339 time")
	c.Flags().StringVar(&f.family, "family", "", "only what this family was denied")
	c.Flags().StringVar(&f.agent, "agent", "", "only what this agent was denied")
	return c
}

// printDenials prints groups of denials, with the families if they differ.
func (a *app) printDenials(list []audit.Denials, whose bool) error {
	for _, d := range list {
		who := ""
		if whose {
			who = cmp.Or(d.Family, "a client") + "  "
		}
		callers := ""
		if len(d.Agents) > 0 {
			callers = ", by " + strings.Join(d.Agents, ", ")
		}
		if err := a.printf("%s%s  ×%d, last %s in %s%s\n    %s\n", who, d.Op, d.Count, d.Last.UTC().Format("2006-01-02 15:04:05"), cmp.Or(d.Work, "its loading"), callers, d.Rule); err != nil {
			return err
		}
	}
	return nil
}

// anchorOf returns the anchor that a flag names; nil: none.
func anchorOf(text, token string, every time.Duration) (audit.Anchor, error) {
	if text != "" && every < time.Second {
		return nil, &usageError{fmt.Errorf("--audit-anchor-every %s: the shortest is 1s", every)}
	}
	switch {
	case text == "":
		return nil, nil
	case !strings.Contains(text, "://"):
		_, err := destination(text)
		return audit.FileAnchor(text), err
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.User != nil || at.Scheme != "https" && !(at.Scheme == "http" && weburl.IsHere(at.Hostname())) {
		return nil, &usageError{errors.New("--audit-anchor: give a file, or an https URL without a password; http is for this machine only")}
	}
	return urlAnchor{at.String(), token}, nil
}

// urlAnchor posts heads to an endpoint.
type urlAnchor struct{ url, token string }

// Keep implements audit.Anchor.
func (u urlAnchor) Keep(ctx context.Context, h audit.Head) error {
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if u.token != "" {
		r.Header.Set("Authorization", "Bearer "+u.token)
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := c.Do(r)
	if err != nil {
		return notPosted(r.URL, err)
	}
	defer answer.Body.Close()
	// After 101 the context does not end the reading of the body, so that only the body of a success is read.
	if answer.StatusCode/100 != 2 {
		return notPosted(r.URL, fmt.Errorf("the server answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	}
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection is used again
	return nil
}

// notPosted names the host alone, because the rest of an address may be secret, and bounds what a hostile answer can add to the log.
func notPosted(at *url.URL, err error) error {
	if posted := (*url.Error)(nil); errors.As(err, &posted) {
		err = posted.Err
	}
	return fmt.Errorf("post the head of the audit log to %.300s: %.300s", at.Host, err)
}
