package family

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// request is one request to a family: a call whose operations ops serves, and the handling of its outcome. Like the guest, it
// is not for concurrent use.
type request struct {
	*ops.Call
	families *Families
	family   *catalogue.Family

	during  registry.Work         // the part of the family's work that it belongs to
	applies string                // the namespace whose settings apply; empty: none's
	ended   func(*sandbox.Result) // nil: not reported
	notes   []string
	queued  []jobs.Job    // staged by the request
	changed bool          // it published or withdrew a tool
	offered memory.Rights // of the caller, whatever the tool declares
	work    string        // "tool NAME", "hook NAME" or "job NAME"
	called  audit.Entry   // of its last request to the guest; the zero Entry: none
	input   *abi.Input    // what the caller's client can be asked; nil: nothing
	log     func(string)  // told each line that the guest logs; nil: nobody is
}

func (r *request) configJSON(ctx context.Context) (json.RawMessage, error) {
	c := configOf{r}
	return c.Settings().JSON(ctx, c.For())
}
