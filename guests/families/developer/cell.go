package developer

import alcove "github.com/alcove-memory/alcove/sdk/go"

var cells = alcove.Records[cellState]{Name: "cell", Open: true, Sync: "newest"}

// cellState is a cell as it is kept.
type cellState struct {
	Value   alcove.Raw
	Counter uint64
}

// Cell is a shared value with compare-and-swap.
//
// Each change adds one to the counter, which is 1 at first. cas changes the value only if the counter is expected_counter (0 or left out:
// only if there is no cell), and tells by swapped whether it did; of several at once, one wins. init sets the value only where there is
// none. set always does.
//
//alcove:tool memory_cell mixed destructive
//alcove:title Cells with compare-and-swap
//alcove:description A shared value or counter with compare-and-swap.
//alcove:alias strata_state_init action=init
//alcove:alias strata_state_set action=set
//alcove:alias strata_state_get action=get
//alcove:alias strata_state_cas action=cas
//alcove:alias strata_state_delete action=delete
//alcove:alias strata_state_list action=list
//alcove:alias strata_state_history action=history
type Cell struct {
	Action          string `alcove:"required,enum=init|set|get|cas|delete|list|history"`
	Cell            string `alcove:"alias=key"`
	Value           alcove.Raw
	ExpectedCounter uint64 `alcove:"alias=expected"`
	Prefix          string
	Limit           int    `alcove:"advanced,default=100,min=1,max=1000"`
	Cursor          string `alcove:"advanced"`
}

// cellAnswer is what memory_cell answers.
type cellAnswer struct {
	Cell      string     `json:",omitzero"`
	Value     alcove.Raw `json:",omitzero"`
	Counter   *uint64    `json:",omitzero"`
	Swapped   *bool      `json:",omitzero"` // cas and init: whether the value was set.
	Found     *bool      `json:",omitzero"`
	Version   uint64     `alcove:"committed" json:",omitzero"`
	Timestamp string     `json:",omitzero"`
	Deleted   *int       `json:",omitzero"`
	names
}

// Call does what the action says.
func (in Cell) Call(c *alcove.Call) (out cellAnswer, err error) {
	if in.Action == list {
		out.names, err = keysOf(c, cells.Name, in.Prefix, in.Cursor, in.Limit)
		return out, err
	}
	if err := need(in.Action, "cell", in.Cell != ""); err != nil {
		return out, err
	}
	out.Cell = in.Cell
	switch in.Action {
	case history:
		out.names, err = versionsOf(c, cells.Name, in.Cell, in.Cursor, in.Limit)
		return out, err
	case remove:
		out.Deleted, err = drop(c, cells.Name, []string{in.Cell})
		return out, err
	}
	return out, in.change(c, &out)
}

// change gets the cell, or changes it if the action may.
func (in Cell) change(c *alcove.Call, out *cellAnswer) error {
	var now cellState
	r, err := one(c, cells.Name, in.Cell)
	if err != nil {
		return err
	}
	if r != nil {
		item, err := cells.Item(r)
		if err != nil {
			return err
		}
		now = item.Value
	}
	changes := in.Action == set || in.Action == "init" && r == nil || in.Action == "cas" && now.Counter == in.ExpectedCounter
	if in.Action != get && in.Action != set {
		out.Swapped = &changes
	}
	if !changes {
		out.Found = new(r != nil)
		if r != nil {
			out.Value, out.Counter, out.Version, out.Timestamp = now.Value, &now.Counter, r.Version, r.Timestamp
		}
		return nil
	}
	if err := need(in.Action, "value", len(in.Value) > 0); err != nil {
		return err
	}
	next := cellState{in.Value, now.Counter + 1}
	out.Value, out.Counter = next.Value, &next.Counter
	return keep(c, cells.Name, in.Cell, alcove.JSON(next), r)
}
