package governance

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// The states of a change.
const (
	waiting  = "pending"
	approved = "approved"
	rejected = "rejected"
)

// undecided is a change that waits, with who decides about it.
type undecided struct {
	pending
	at      alcove.ID
	version uint64 // of the record
	who     alcove.CallerGetResponse
	rule    rule
}

// decide reads a change about which the caller may decide. Its author may not, except to withdraw it.
func (cfg Config) decide(c *alcove.Call, id alcove.ID, withdraw bool) (x undecided, err error) {
	b, err := cfg.book()
	if err != nil {
		return x, err
	}
	if x.at, x.pending, x.version, err = find(c, id); err != nil {
		return x, err
	}
	if x.who, err = c.CallerGet(); err != nil {
		return x, err
	}
	x.rule = b.of(x.at.Namespace, x.Op)
	if withdraw && c.Caller != "" && x.who.Principal == x.By {
		return x, nil
	}
	return x, x.mayDecide(c)
}

// find reads a change that waits, and its place.
func find(c *alcove.Call, id alcove.ID) (at alcove.ID, p pending, version uint64, err error) {
	at = alcove.ID{Namespace: or(id.Namespace, c.Namespace), Key: id.Key}
	if strings.HasPrefix(at.Key, "proposals/") {
		found, err := c.RecordGet(alcove.RecordGetRequest{Collection: pendings.Name, Namespace: at.Namespace, Keys: []string{at.Key}})
		if err != nil {
			return at, p, 0, err
		}
		if len(found.Records) > 0 && found.Records[0] != nil {
			item, err := pendings.Item(found.Records[0])
			if err != nil || item.Value.State == waiting {
				return at, item.Value, item.Version, err
			}
		}
	}
	return at, p, 0, alcove.Errorf(alcove.NotFound, "no change %s waits for approval", at.String())
}

// mayDecide returns why the caller may not decide about a change.
func (x *undecided) mayDecide(c *alcove.Call) error {
	switch {
	case c.Operator:
		return nil
	case c.Caller == "" || x.who.Principal == x.By:
		return alcove.Errorf(alcove.Denied, "nobody decides about their own change, nor do their delegates")
	case x.By == "" && x.rule.approver != human:
		return alcove.Errorf(alcove.Denied, "it is not known whose change it is: a human decides, with alcove approval")
	case !x.rule.may(c):
		return alcove.Errorf(alcove.Denied, "the approver of %s is %s: a human decides at the command line, with alcove approval", x.at.Namespace, x.rule.approver)
	}
	return mayWrite(c, c.Caller, "", x.at.Namespace)
}

// mayWrite returns an error if an agent has no right to write a namespace any more, or had an API key that does not hold any more.
func mayWrite(c *alcove.Call, agent, key, namespace string) error {
	request := alcove.CallerCanRequest{Action: "write", Namespace: namespace, Key: key}
	if agent != c.Caller {
		request.Agent = agent
	}
	can, err := c.CallerCan(request)
	if err == nil && !can.Allowed {
		err = alcove.Errorf(alcove.Denied, "%s may not write %s", agent, namespace)
	}
	return err
}

// keep stages a decided change, unless somebody decided meanwhile.
func (x *undecided) keep(c *alcove.Call) error {
	item, err := scan.Encode(&x.pending)
	if err != nil {
		return err
	}
	_, err = c.RecordPut(alcove.RecordPutRequest{Collection: pendings.Name, Namespace: x.at.Namespace, Items: []alcove.RecordItem{{Key: x.at.Key, Value: item, IfVersion: &x.version}}})
	return err
}

// remember keeps a decision for later changes.
func (x *undecided) remember(c *alcove.Call, how string, approve bool) error {
	if how == "once" {
		return nil
	}
	d := decision{Approve: approve, By: or(c.Caller, "operator"), Space: x.who.Space}
	if !c.Operator {
		d.Agent, d.Key = x.who.Principal, x.who.Key
	}
	if how == "session" {
		if d.Session = x.Session; d.Session == "" {
			return alcove.Errorf(alcove.InvalidArgument, "the change was made without a session: remember once or forever")
		}
	}
	return decisions.In(x.at.Namespace).Put(c, decisionKey(x.Op, x.By, d.Session), d)
}
