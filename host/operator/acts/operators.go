package acts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
)

func (a Acts) operators() []operator.Binding {
	return []operator.Binding{
		operator.ListOperators.By(query(func(context.Context) ([]operator.Operator, error) { return a.Operators.List() })).Reading(),
		operator.CreateOperator.By(a.createOperator).Changing(),
		operator.RevokeOperator.By(a.revokeOperator).Changing(),
	}
}

func (a Acts) createOperator(_ context.Context, r operator.OperatorRequest) (made operator.IssuedOperator, err error) {
	role, err := operator.ParseRole(string(r.Role))
	if err != nil {
		return made, invalid(err)
	}
	o := operator.Operator{Name: r.Name, Role: string(role)}
	if r.Expires != "" {
		if o.Expires, err = memory.ParseExpiry(r.Expires, a.Clock()); err != nil {
			return made, fmt.Errorf("expires: %w", err)
		}
	}
	if made.Operator, made.Secret, err = a.Operators.Create(o); err != nil {
		return operator.IssuedOperator{}, invalid(err)
	}
	return made, nil
}

func (a Acts) revokeOperator(_ context.Context, r operator.OperatorName) (operator.Operator, error) {
	gone, err := a.Operators.Revoke(r.Name)
	if errors.Is(err, fs.ErrNotExist) {
		err = &memory.Error{Code: memory.NotFound, Message: err.Error()}
	}
	return gone, err
}

func invalid(err error) error {
	return &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
}

// Began implements operator.Recorder. What cannot be recorded now stays pending in the log, and the act goes on: it may be what mends it.
func (a Acts) Began(d operator.Action) (failed func(error)) {
	e := audit.Entry{Kind: audit.Operated, Agent: operatorAgent, Person: d.Person.String(), Reason: d.Person.Reason, Work: "act " + d.Act, Detail: d.About}
	seq := a.record(e)
	return func(err error) {
		e.Of, e.Outcome, e.Detail = seq, "failed", err.Error()
		a.record(e)
	}
}

// Refused implements operator.Recorder.
func (a Acts) Refused(d operator.Action, rule string) {
	a.record(audit.Entry{Kind: audit.Denied, Agent: operatorAgent, Person: d.Person.String(), Work: "act " + d.Act, Denied: []audit.Denial{{Op: "operate", Rule: rule, Count: 1}}})
}

func (a Acts) record(e audit.Entry) (seq uint64) {
	if a.Space.Audit == nil {
		a.Logger.Info("operator", "kind", e.Kind, "work", e.Work, "person", e.Person, "reason", e.Reason, "detail", e.Detail)
		return 0
	}
	seq = a.Space.Audit.Add(e)
	if err := a.Space.Audit.Flush(); err != nil {
		a.Logger.Error("an operator's act is not in the audit log yet", "work", e.Work, "person", e.Person, "error", err)
	}
	return seq
}

// followAudit writes the lines of the audit log behind an entry.
func (a Acts) followAudit(ctx context.Context, r operator.AuditFollowing, w io.Writer) error {
	if a.Space.Audit == nil {
		return &memory.Error{Code: memory.Unavailable, Message: "there is no audit log: a server with families keeps one"}
	}
	head, err := a.Space.Audit.Head() // what is pending is in the files then
	if err != nil {
		return err
	}
	write := func(line []byte, e audit.Entry) error {
		if !r.Follow && e.Seq > head.Seq {
			return io.EOF
		}
		_, err := w.Write(line)
		return err
	}
	f := audit.Follower{Dir: a.Space.Audit.Dir(), After: r.After}
	err = f.Next(ctx, write, nil)
	if r.Follow && err == nil {
		flush(w)
		err = f.Run(ctx, func(line []byte, e audit.Entry) error { defer flush(w); return write(line, e) }, nil)
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// flush gives the reader of a stream what was written.
func flush(w io.Writer) {
	if f, ok := w.(interface{ Flush() }); ok {
		f.Flush()
	}
}
