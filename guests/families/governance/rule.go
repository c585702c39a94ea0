package governance

import (
	"strconv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Who may change a namespace.
const (
	anyone     = "any"
	registered = "registered"
	owner      = "owner"
	approve    = "approve"
)

// human is the approver at the command line.
const human = "human"

// deepest is how many ancestors of a namespace are asked for rules.
const deepest = 8

// everywhere is the namespace whose rule holds for all.
const everywhere = "*"

// standard is the rule of a namespace.
//
//alcove:json
type standard struct {
	ID       string // of the memory that says it in words
	By       string // who set it
	Write    string `json:",omitzero"`
	Promote  string `json:",omitzero"`
	Delete   string `json:",omitzero"`
	Approver string `json:",omitzero"` // human, agent:NAME or consensus:N
	Alone    bool   `json:",omitzero"` // those of its ancestors do not hold
}

// book are the rules of all namespaces.
//
//alcove:json
type book struct{ Rules map[string]standard }

func (cfg Config) book() (b book, err error) {
	if cfg.Standards == "" {
		return book{Rules: map[string]standard{}}, nil
	}
	if err := scan.Decode([]byte(cfg.Standards), &b); err != nil {
		return b, alcove.Errorf(alcove.Internal, "the rules cannot be read: %v", err)
	}
	if b.Rules == nil {
		b.Rules = map[string]standard{}
	}
	return b, nil
}

// chain are the namespaces whose rules hold in one, the nearest first.
func chain(namespace string) (list []string) {
	for range deepest {
		list = append(list, namespace)
		i := strings.LastIndexByte(namespace, '/')
		if i < 0 {
			break
		}
		namespace = namespace[:i]
	}
	return append(list, everywhere)
}

// rule is what holds for a kind of change in a namespace.
type rule struct {
	who      string
	approver string
	by       string // who set it
}

// of is the nearest rule for a change: write, promote or delete.
func (b book) of(namespace, change string) rule {
	for _, name := range chain(namespace) {
		s, there := b.Rules[name]
		if !there {
			continue
		}
		who := map[string]string{"write": s.Write, "promote": s.Promote, "delete": s.Delete}[change]
		if who == "" && change == "promote" {
			who = s.Write
		}
		if who != "" {
			return rule{who, or(s.Approver, human), s.By}
		}
		if s.Alone {
			break
		}
	}
	return rule{who: anyone}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// enforcement is whether changes are held to the rules.
type enforcement struct {
	Enforced bool
	Note     string `json:"note,omitzero"` // What the rules do not hold back, and what an operator can do.
}

// enforced tells it by what an operator granted the family.
func enforced(c *alcove.Call) (e enforcement, err error) {
	who, err := c.CallerGet()
	if err != nil {
		return e, err
	}
	e.Enforced = who.On("store")
	switch {
	case !e.Enforced:
		e.Note = "Nothing enforces rules, because the store hook is off. An operator can turn it on: alcove family grant governance records.read --hook store,stored"
	case !who.Can("records.read"):
		e.Note = "Rules hold for memories, and not for records of developer and graph. An operator can change that: alcove family grant governance records.read"
	}
	return e, nil
}

// voters is how many agents have to approve.
func (r rule) voters() int {
	if n, is := strings.CutPrefix(r.approver, "consensus:"); is {
		if n, err := strconv.Atoi(n); err == nil {
			return n
		}
	}
	return 1
}

// may reports whether an agent is an approver.
func (r rule) may(c *alcove.Call) bool {
	switch name, is := strings.CutPrefix(r.approver, "agent:"); {
	case c.Operator:
		return true
	case r.who != approve:
		return c.Caller != ""
	case is:
		return c.Caller == name
	}
	return r.approver != human && c.Caller != ""
}

// readApprover reads human, {"agent": name} or {"consensus": n}.
func readApprover(raw alcove.Raw) (string, error) {
	bad := alcove.Errorf(alcove.InvalidArgument, `the approver is "human", {"agent": name} or {"consensus": number}`)
	if raw.Null() {
		return "", nil
	}
	if text, is := raw.Text(); is {
		if text == human || strings.HasPrefix(text, "agent:") && len(text) > len("agent:") {
			return text, nil
		}
		return "", bad
	}
	var g approverGiven
	if err := scan.Decode(raw, &g); err != nil {
		return "", bad
	}
	switch {
	case g.Agent != "" && g.Consensus == 0 && len(g.Agent) <= 128:
		return "agent:" + g.Agent, nil
	case g.Agent == "" && g.Consensus >= 1 && g.Consensus <= 100:
		return "consensus:" + strconv.Itoa(g.Consensus), nil
	}
	return "", bad
}

//alcove:json
type approverGiven struct {
	Agent     string
	Consensus int
}
