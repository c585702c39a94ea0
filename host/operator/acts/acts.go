// Package acts carries out what operators ask for, on an open space.
package acts

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/operator/operators"
	"github.com/alcove-memory/alcove/host/remote"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bundle"
)

// Acts carries out operators' acts on an open space.
type Acts struct{ Options }

// Options say what acts are carried out on. All but Exposed, Console, Address, Close, Mover and Spaces are needed.
type Options struct {
	Dir     string // the data directory
	Space   *space.Space
	Keys    *keys.Keys
	Remotes *remote.Remotes
	// Operators are those that reach the server from elsewhere.
	Operators *operators.Operators
	Account   Account
	Exposed   bool                                                  // other machines can connect
	Console   func(context.Context) (operator.ConsoleTicket, error) // nil: the process has no console
	Address   operator.HubAddress                                   // where people join it
	Close     func()                                                // closes the space; nil: it is closed with the process
	Mover     Mover                                                 // nil: the process cannot open the space anew
	Spaces    Spaces                                                // nil: the server shares none with others
	Clock     func() time.Time
	Logger    *slog.Logger
}

// Mover moves the store of the space.
type Mover interface {
	MoveStore(context.Context, operator.MoveStoreRequest) (operator.MoveBegun, error)
	GetMove(context.Context) (operator.MoveEnded, error)
	RemoveMoved(context.Context) error
}

// Spaces are those of a database that servers share.
type Spaces interface {
	List(context.Context) ([]operator.ListedSpace, error)
	Create(ctx context.Context, name string) error
	Rename(ctx context.Context, name, to string) error
	Delete(ctx context.Context, name string) error
}

// Account is what a server counts, and its request log.
type Account interface {
	EraseNamed(operator.PurgeRequest) error
	Requests(operator.RequestQuery) (operator.RequestPage, error)
	Numbers() ([]operator.Metric, error)
}

// New returns the acts on a space.
func New(o Options) Acts { return Acts{o} }

// cannot is the error of an act that this engine has nothing for.
func cannot(what string) error {
	return &memory.Error{Code: memory.Unavailable, Message: "this store " + what}
}

// Bindings binds each act to what carries it out.
func (a Acts) Bindings() []operator.Binding {
	return slices.Concat(a.maintenance(), a.insight(), a.copies(), a.embedders(), a.keys(), a.hub(), a.operators(), a.families(), a.remotes())
}

// notShared is the error of acts on a server that shares spaces, where it shares none.
func notShared() error {
	return &memory.Error{Code: memory.Unavailable, Message: "this server shares no spaces with others: start it with --store-file and --cluster-key-file"}
}

// query carries out an act without a request.
func query[Out any](do func(context.Context) (Out, error)) func(context.Context, operator.None) (Out, error) {
	return func(ctx context.Context, _ operator.None) (Out, error) { return do(ctx) }
}

// command carries out an act without an answer.
func command[In any](do func(context.Context, In) error) func(context.Context, In) (operator.None, error) {
	return func(ctx context.Context, r In) (operator.None, error) { return operator.None{}, do(ctx, r) }
}

func (a Acts) maintenance() []operator.Binding {
	m := a.Space.Memory
	return []operator.Binding{
		operator.GetHealth.By(query(a.health)).Reading(),
		operator.Verify.By(query(m.Verify)).Reading(),
		operator.Compact.By(query(a.compact)),
		operator.GetDurability.By(query(a.durability)).Reading(),
		operator.Flush.By(command(func(ctx context.Context, _ operator.None) error { return m.Flush(ctx) })),
		operator.Purge.By(a.purge),
		operator.GetRetention.By(query(m.Retention)).Reading(),
		operator.SetRetention.By(func(ctx context.Context, r operator.Retention) (operator.Retention, error) {
			return r, m.SetRetention(ctx, r)
		}),
		operator.PreviewRetention.By(m.PreviewRetention).Reading(),
		operator.Retain.By(query(m.Retain)),
		operator.GetAuditHead.By(query(a.auditHead)).Reading(),
		operator.OpenConsole.By(query(a.openConsole)),
		operator.CloseSpace.By(command(a.closeSpace)),
		operator.MoveStore.By(a.moveStore),
		operator.GetMove.By(query(a.getMove)).Reading(),
		operator.RemoveMoved.By(command(a.removeMoved)),
		operator.GetCluster.By(query(func(context.Context) (operator.Cluster, error) { return operator.Cluster{}, notShared() })).Reading(),
		operator.DrainServer.By(command(func(context.Context, operator.None) error { return notShared() })),
		operator.ListSpaces.By(query(func(ctx context.Context) ([]operator.ListedSpace, error) { return a.spaces().List(ctx) })).Reading(),
		operator.CreateSpace.By(command(func(ctx context.Context, r operator.SpaceName) error { return a.spaces().Create(ctx, r.Name) })),
		operator.RenameSpace.By(command(func(ctx context.Context, r operator.SpaceRename) error { return a.spaces().Rename(ctx, r.Name, r.To) })),
		operator.DeleteSpace.By(command(func(ctx context.Context, r operator.SpaceName) error { return a.spaces().Delete(ctx, r.Name) })),
		operator.UndoFamily.By(a.undoFamily),
		operator.MoveMemories.By(a.moveMemories),
		operator.ListQuotas.By(query(func(ctx context.Context) ([]operator.QuotaUse, error) { return a.everything().QuotaUses(ctx, "") })).Reading(),
		operator.SetQuota.By(command(a.setQuota)),
	}
}

func (a Acts) health(context.Context) (operator.Health, error) {
	s := operator.Health{ReadOnly: a.Space.ReadOnly, Locked: a.Space.Locked(), Following: a.Space.Following(a.Clock())}
	if err := a.Space.Writable(); err != nil {
		s.Fault = err.Error()
	}
	if a.Space.Without != nil {
		s.WithoutFamilies = a.Space.Without.Error()
	}
	return s, nil
}

func (a Acts) openConsole(ctx context.Context) (operator.ConsoleTicket, error) {
	if a.Console == nil {
		return operator.ConsoleTicket{}, &memory.Error{Code: memory.Unavailable, Message: "this process has no console"}
	}
	return a.Console(ctx)
}

func (a Acts) closeSpace(context.Context, operator.None) error {
	if a.Close == nil {
		return &memory.Error{Code: memory.Unavailable, Message: "this server has no other spaces: alcove stop ends it"}
	}
	a.Close()
	return nil
}

// mover returns what moves the store of the space.
func (a Acts) mover() (Mover, error) {
	if a.Mover == nil {
		return nil, &memory.Error{Code: memory.Unavailable, Message: "this process cannot open the space anew: use alcove space move"}
	}
	return a.Mover, nil
}

func (a Acts) moveStore(ctx context.Context, r operator.MoveStoreRequest) (operator.MoveBegun, error) {
	m, err := a.mover()
	if err != nil {
		return operator.MoveBegun{}, err
	}
	return m.MoveStore(ctx, r)
}

func (a Acts) getMove(ctx context.Context) (operator.MoveEnded, error) {
	m, err := a.mover()
	if err != nil {
		return operator.MoveEnded{}, err
	}
	return m.GetMove(ctx)
}

func (a Acts) removeMoved(ctx context.Context, _ operator.None) error {
	m, err := a.mover()
	if err != nil {
		return err
	}
	return m.RemoveMoved(ctx)
}

func (a Acts) compact(ctx context.Context) (operator.Compacted, error) {
	e, ok := a.Space.Engine.(store.Compactor)
	if !ok {
		return operator.Compacted{}, cannot("needs no compaction")
	}
	return e.Compact(ctx)
}

func (a Acts) durability(ctx context.Context) (operator.Durability, error) {
	e, ok := a.Space.Engine.(store.Durable)
	if !ok {
		return operator.Durability{}, cannot("does not count what it makes durable")
	}
	return e.Durability(ctx)
}

// everything is the space for somebody who may do all.
func (a Acts) everything() *memory.Access {
	return a.Space.Memory.As(memory.Caller{Rights: memory.FullRights()})
}

func (a Acts) setQuota(ctx context.Context, r operator.QuotaRequest) error {
	stage, err := a.everything().Stage(ctx, memory.Default)
	if err == nil {
		err = stage.SetQuota(ctx, r.Namespace, r.Quota)
	}
	if err == nil {
		_, err = stage.Commit(ctx, memory.Commit{})
	}
	return err
}

func (a Acts) copies() []operator.Binding {
	return []operator.Binding{
		operator.Export.By(a.export).Reading(),
		operator.Backup.By(a.backup).Reading(),
		operator.NoteBackup.By(command(a.noteBackup)),
		operator.ExportMemories.By(a.Space.Memory.WriteMemories).Reading(),
		operator.Import.By(a.importMemories),
	}
}

func (a Acts) export(ctx context.Context, r operator.ExportRequest, w io.Writer) error {
	from, ok := a.Space.Engine.(store.PortableEngine)
	if !ok {
		return cannot("cannot be exported")
	}
	_, err := bundle.Write(ctx, w, from, r.Since, a.guards)
	return err
}

func (a Acts) backup(ctx context.Context, r operator.BackupRequest, w io.Writer) error {
	from, ok := a.Space.Engine.(store.PortableEngine)
	if !ok {
		return cannot("cannot be backed up")
	}
	return backup.Write(ctx, w, from, r.Since, a.decisions)
}

func (a Acts) noteBackup(ctx context.Context, b operator.BackedUp) error {
	e, ok := a.Space.Engine.(store.BackupNoter)
	if !ok {
		return cannot("does not remember backups")
	}
	return e.NoteBackup(ctx, b)
}

func (a Acts) importMemories(ctx context.Context, r operator.ImportRequest) (operator.Imported, error) {
	importer := a.Space.Memory.As(memory.Caller{Agent: "import", Rights: memory.FullRights()})
	return importer.Import(ctx, r.Branch, r.Memories, memory.Write{DryRun: r.DryRun})
}

func (a Acts) embedders() []operator.Binding {
	e := a.Space.Embedders
	named := func(do func(name string) error) func(context.Context, operator.EmbedderName) (operator.None, error) {
		return command(func(_ context.Context, r operator.EmbedderName) error { return do(r.Name) })
	}
	return []operator.Binding{
		operator.ListEmbedders.By(show(e.States)).Reading(),
		operator.SetEmbedder.By(e.Set).Changing(),
		operator.CheckEmbedder.By(e.Check),
		operator.RegenerateEmbedder.By(named(e.Regenerate)).Changing(),
		operator.RemoveEmbedder.By(named(e.Remove)).Changing(),
		operator.ChooseEmbedder.By(command(func(_ context.Context, c operator.EmbedderChoice) error { return e.Choose(c) })).Changing(),
	}
}
