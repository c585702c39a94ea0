package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/alcove-memory/alcove/host/admin"
	"github.com/alcove-memory/alcove/host/backup"
	"github.com/alcove-memory/alcove/host/bundle"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/store"
)

// ExportRequest says what to export: what is newer than a version.
type ExportRequest struct {
	Since uint64 `json:"since,omitempty"` // 0: everything
}

// BackupRequest says what to back up: what is newer than what a backup holds.
type BackupRequest struct {
	Since backup.Base `json:"since"` // zero: everything
}

// ImportRequest says what to store where.
type ImportRequest struct {
	Branch   string                  `json:"branch,omitempty"`
	Memories []memory.PortableMemory `json:"memories"`
	DryRun   bool                    `json:"dry_run,omitempty"`
}

// acts are what operators can ask for.
func (h *Host) acts() map[string]admin.Act {
	acts := map[string]admin.Act{
		"verify": func(ctx context.Context, _ json.RawMessage) (any, error) { return h.space.Verify(ctx) },
		"compact": func(ctx context.Context, _ json.RawMessage) (any, error) {
			e, ok := h.engine.(store.Compactor)
			if !ok {
				return nil, errors.New("this store needs no compaction")
			}
			return e.Compact(ctx)
		},
		"durability": func(ctx context.Context, _ json.RawMessage) (any, error) {
			e, ok := h.engine.(store.Durable)
			if !ok {
				return nil, errors.New("this store does not count what it makes durable")
			}
			return e.Durability(ctx)
		},
		"backed-up": act(func(ctx context.Context, b BackedUp) (any, error) {
			e, ok := h.engine.(store.BackupNoter)
			if !ok {
				return nil, errors.New("this store does not remember backups")
			}
			return b, e.NoteBackup(ctx, b)
		}),
		"flush": func(ctx context.Context, _ json.RawMessage) (any, error) { return struct{}{}, h.space.Flush(ctx) },
		"purge": act(func(ctx context.Context, p PurgeRequest) (any, error) { return h.purge(ctx, p) }),
		"import": act(func(ctx context.Context, r ImportRequest) (any, error) {
			w := memory.Write{Agent: "import"}
			if r.DryRun {
				return h.space.PreviewImport(ctx, r.Branch, r.Memories, w)
			}
			return h.space.Import(ctx, r.Branch, r.Memories, w)
		}),
		"retention": func(ctx context.Context, _ json.RawMessage) (any, error) { return h.space.Retention(ctx) },
		"set-retention": act(func(ctx context.Context, r memory.Retention) (any, error) {
			return r, h.space.SetRetention(ctx, r)
		}),
		"retain": func(ctx context.Context, _ json.RawMessage) (any, error) { return h.space.Retain(ctx) },
	}
	acts["health"] = func(context.Context, json.RawMessage) (any, error) { return h.health(), nil }
	maps.Copy(acts, h.familyActs())
	maps.Copy(acts, h.embedderActs())
	for _, name := range []string{"family-install", "family-remove", "family-grant", "family-configure", "endpoint-set",
		"set-embedder", "regenerate-embedder", "remove-embedder", "choose-embedder"} {
		acts[name] = h.changes(acts[name])
	}
	return acts
}

// changes is an act that changes files of the data directory, which may be another's by now.
func (h *Host) changes(do admin.Act) admin.Act {
	if do == nil {
		return nil
	}
	return func(ctx context.Context, request json.RawMessage) (any, error) {
		if err := h.Writable(); err != nil {
			return nil, err
		}
		if h.readOnly {
			return nil, fmt.Errorf("%s is served read-only: %w", h.options.Dir, store.ErrReadOnly)
		}
		return do(ctx, request)
	}
}

// Health is how a server is.
type Health struct {
	ReadOnly bool   `json:"read_only"` // its directory cannot be written
	Fault    string `json:"fault"`     // why nothing is written though it should be
}

func (h *Host) health() Health {
	s := Health{ReadOnly: h.readOnly}
	if err := h.Writable(); err != nil {
		s.Fault = err.Error()
	}
	return s
}

func (h *Host) streams() map[string]admin.Stream {
	return map[string]admin.Stream{
		"export": func(ctx context.Context, request json.RawMessage, w io.Writer) error {
			var r ExportRequest
			if err := decode(request, &r); err != nil {
				return err
			}
			from, ok := h.engine.(store.PortableEngine)
			if !ok {
				return errors.New("this store cannot be exported")
			}
			_, err := bundle.Write(ctx, w, from, r.Since, h.guards)
			return err
		},
		"backup": func(ctx context.Context, request json.RawMessage, w io.Writer) error {
			var r BackupRequest
			if err := decode(request, &r); err != nil {
				return err
			}
			from, ok := h.engine.(store.PortableEngine)
			if !ok {
				return errors.New("this store cannot be backed up")
			}
			return backup.Write(ctx, w, from, r.Since, h.settings)
		},
		"memories": func(ctx context.Context, request json.RawMessage, w io.Writer) error {
			var selection memory.Selection
			if err := decode(request, &selection); err != nil {
				return err
			}
			return h.space.WriteMemories(ctx, selection, w)
		},
	}
}

// act decodes the request of an act.
func act[T any](do func(context.Context, T) (any, error)) admin.Act {
	return func(ctx context.Context, request json.RawMessage) (any, error) {
		var v T
		if err := decode(request, &v); err != nil {
			return nil, err
		}
		return do(ctx, v)
	}
}

func decode(request json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(request))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	return nil
}

// What the command line says to operators' acts, and is answered.
type (
	Verified = memory.Verified
	// Copy is a record, a memory or an event with what was purged.
	Copy      = memory.Copy
	Retention = memory.Retention
	// Retained is what an application of the policy did.
	Retained = memory.Retained
	// RetentionFailure is a rule that could not be applied.
	RetentionFailure = memory.RetentionFailure
	// NamespaceRetention is what the histories of a namespace keep.
	NamespaceRetention = memory.NamespaceRetention
	Selection          = memory.Selection
	Memory             = memory.PortableMemory
	Imported           = memory.Imported
	Durability         = store.Durability
	BackedUp           = store.BackedUp
)
