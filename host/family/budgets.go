package family

import (
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/outside/budget"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// spentDir has what families spent of their budgets, below the data directory.
const spentDir = "spent"

// periods are those of the budgets that are counted.
var periods = []struct {
	name   string
	period time.Duration
}{{registry.HTTPCallsMinute, time.Minute}, {registry.LLMCallsMinute, time.Minute}, {registry.LLMTokensDay, 24 * time.Hour}}

// familyBudget implements ops.Budget by a family's grant.
type familyBudget struct {
	families *Families
	name     string
	limits   map[string]int64
	methods  []string
}

// budgetOf returns the budget of a version. A version that is tried spends from the installed one's.
func (f *Families) budgetOf(x *catalogue.Family) familyBudget {
	g := f.catalogue.GrantOf(x)
	if x.Source == grants.Tried {
		g = f.catalogue.Lock().Families[x.Name]
	}
	return familyBudget{f, x.Name, g.Limits, g.Methods}
}

// Limit implements ops.Budget.
func (b familyBudget) Limit(name string) int64 { return b.limits[name] }

// Methods implements ops.Budget.
func (b familyBudget) Methods() []string { return b.methods }

// Spend implements ops.Budget.
func (b familyBudget) Spend(name string, amount int64) (func(used int64), error) {
	if b.limits[name] <= 0 {
		return func(int64) {}, nil
	}
	correct, err := b.families.spent.Spend(b.name, boundOf(name, b.limits[name]), amount)
	var over *budget.Exceeded
	if errors.As(err, &over) {
		return nil, &abi.Error{Code: abi.CodeExhausted, Retryable: over.Asked <= over.Most, Details: map[string]any{"limit": name, "value": over.Most, "spent": over.Spent, "again_s": int64(over.Again/time.Second) + 1},
			Message: fmt.Sprintf("family %s has the budget %v; %s", b.name, over, b.families.catalogue.Advice().Grant("raise it", b.name, "--limit", name+"=N"))}
	}
	if err != nil {
		b.families.o.Logger.Error("a family's request was held back, because its budget cannot be counted", "family", b.name, "error", err)
		return nil, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: "the family's budget cannot be counted: the reason is in the server's log"}
	}
	return correct, nil
}

func boundOf(name string, most int64) budget.Bound {
	for _, p := range periods {
		if p.name == name {
			return budget.Bound{Name: name, Most: most, Period: p.period}
		}
	}
	return budget.Bound{Name: name, Most: most, Period: time.Minute}
}

// Spending is what a family spent of a budget in its present period.
type Spending struct {
	Budget string    `json:"budget"`
	Most   int64     `json:"most"`
	Amount int64     `json:"spent"`
	Until  time.Time `json:"until"` // when the period ends
}

func (s Spending) String() string {
	return fmt.Sprintf("%s %d of %d, until %s", s.Budget, s.Amount, s.Most, memory.FormatTime(s.Until))
}

// spending returns what a family spent of its budgets.
func (f *Families) spending(d catalogue.Described) (list []Spending, err error) {
	for _, p := range periods {
		most := d.Grant.Limits[p.name]
		if most <= 0 {
			continue
		}
		s, err := f.spent.Of(d.Manifest.Name, boundOf(p.name, most))
		if err != nil {
			return list, err
		}
		list = append(list, Spending{p.name, most, s.Amount, s.Since.Add(p.period)})
	}
	return list, nil
}

// allSpending returns what each family spent of its budgets, by its name.
func (f *Families) allSpending() map[string][]Spending {
	all := map[string][]Spending{}
	for _, d := range f.All() {
		list, err := f.spending(d)
		if err != nil {
			f.o.Logger.Warn("a family's budgets cannot be read", "family", d.Manifest.Name, "error", err)
		}
		all[d.Manifest.Name] = list
	}
	return all
}
