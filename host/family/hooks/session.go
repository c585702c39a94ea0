package hooks

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/abi"
)

// SessionEnd calls a family's hook for a session that ended. payload is the session.
func SessionEnd(ctx context.Context, r Request, payload json.RawMessage) error {
	var s abi.Session
	if err := json.Unmarshal(payload, &s); err != nil {
		return err
	}
	return askHook(ctx, r, abi.HookRequest{Hook: abi.HookSessionEnd, Session: &s})
}
