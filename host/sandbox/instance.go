package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/meter"
)

// Exports that a module must or may have.
const (
	exportHandle     = "alcove_handle"
	exportInitialize = "_initialize"
)

// instance is a module with a memory of its own. It serves one request at a time.
type instance struct {
	module *Module
	ctx    *guestContext
	call   *call // current request
	own    call  // storage of call

	guest   api.Module
	memory  *linear
	handle  api.Function
	restore api.Function
	fuel    api.MutableGlobal
	depth   api.MutableGlobal
	changed api.MutableGlobal
	stack   [2]uint64 // arguments and results

	before, after *instance // in the pool
	cold          bool      // in the pool, its memory returned to the system
}

// start creates an instance and runs its start code as a request of its own, with the same limits but without operations
// or a result. If the guest fails, start returns a nil instance and a Result with the reason.
func (m *Module) start(ctx context.Context, limits abi.Limits) (*instance, *Result, error) {
	i := &instance{module: m}
	i.ctx = &guestContext{instance: i, Context: experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(i.allocate))}
	c := i.prepare(ctx, limits)
	c.starting = true
	if err := c.begin(); err != nil {
		return nil, c.result(err), nil
	}
	err := i.instantiate()
	if err == nil {
		err = i.initialize()
	}
	c.end()
	c.log.end()
	if err == nil {
		err = i.keep()
	} else if !errors.Is(err, errHost) {
		r := c.result(err)
		i.close()
		return nil, r, nil
	}
	if err != nil {
		i.close()
		return nil, nil, fmt.Errorf("start an instance of %s: %w", m.family, err)
	}
	i.ctx.Context = context.Background()
	return i, nil, nil
}

// errHost marks errors that are not the guest's fault.
var errHost = errors.New("the host failed")

// allocate creates the instance's memory. It panics on failure, which instantiate recovers.
func (i *instance) allocate(_, most uint64) experimental.LinearMemory {
	limit := min(most, uint64(i.module.limits.MemoryPages)*pageBytes)
	i.memory = newLinear(limit, &heap{})
	if pages := i.module.sandbox.pages; pages != nil {
		b, err := pages.backing(limit, &i.module.code.original)
		if err != nil {
			panic(fmt.Errorf("%w: %w", errHost, err))
		}
		i.memory.backing = b
	}
	return i.memory
}

// pageBytes is the size of a page of memory.
const pageBytes = 64 << 10

func (i *instance) instantiate() (err error) {
	defer func() {
		if r := recover(); r != nil { // from wazero itself: guests' traps are errors
			err = fmt.Errorf("%w: %v", errHost, r)
		}
	}()
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	i.guest, err = i.module.sandbox.runtime.InstantiateModule(i.ctx, i.module.code.compiled, config)
	return err
}

// initialize looks up the exports that the host needs and runs _initialize.
func (i *instance) initialize() error {
	i.find(i.guest)
	i.handle, i.restore = i.guest.ExportedFunction(exportHandle), i.guest.ExportedFunction(meter.Restore)
	if i.handle == nil || i.restore == nil {
		return fmt.Errorf("%w: the module was not metered", errHost)
	}
	if f := i.guest.ExportedFunction(exportInitialize); f != nil {
		return f.CallWithStack(i.ctx, i.stack[:])
	}
	return nil
}

// find looks up the globals that the rewriter added.
func (i *instance) find(m api.Module) {
	i.fuel = m.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
	i.depth = m.ExportedGlobal(meter.Depth).(api.MutableGlobal)
	i.changed = m.ExportedGlobal(meter.Changed).(api.MutableGlobal)
}

// keep snapshots the state that reset restores.
func (i *instance) keep() error {
	if err := i.guest.ExportedFunction(meter.Save).CallWithStack(i.ctx, i.stack[:]); err != nil {
		return fmt.Errorf("%w: save the globals: %w", errHost, err)
	}
	i.changed.Set(0)
	if err := i.memory.snapshot(); err != nil {
		return fmt.Errorf("%w: %w", errHost, err)
	}
	return nil
}

// prepare resets the instance's storage for a request.
func (i *instance) prepare(ctx context.Context, limits abi.Limits) *call {
	i.own = call{module: i.module, instance: i, caller: ctx, limits: limits, log: i.module.lines(limits), source: i.module.source}
	c := &i.own
	c.began = i.module.sandbox.since()
	c.deadline = c.began + millis(limits.WallMS)
	c.fuel.left = limits.Fuel
	i.call = c
	return c
}

// serve runs alcove_handle.
func (i *instance) serve(c *call, kind abi.Kind, length int) (status uint32, err error) {
	i.fuel.Set(uint64(c.refill(c.charged, 0)))
	i.stack = [2]uint64{uint64(kind), uint64(length)}
	err = i.handle.CallWithStack(i.ctx, i.stack[:])
	return uint32(i.stack[0]), err
}

// reset restores the instance's state after _initialize, and reports whether it could.
func (i *instance) reset() bool {
	if i.changed.Get()&meter.Irreversible != 0 || !i.memory.shrink(i.guest.Memory()) {
		return false
	}
	i.changed.Set(0)
	if err := i.restore.CallWithStack(i.ctx, i.stack[:]); err != nil {
		i.module.sandbox.log.Error("restore the globals of an instance", "family", i.module.family, "error", err)
		return false
	}
	if err := i.memory.restore(); err != nil {
		i.module.sandbox.log.Error("restore the memory of an instance", "family", i.module.family, "error", err)
		return false
	}
	i.own = call{}
	i.call = nil
	return true
}

// wasRefused reports whether the guest was refused memory or a larger table.
func (i *instance) wasRefused() bool {
	return i.changed != nil && i.changed.Get()&meter.Refused != 0
}

// close frees the instance, including its memory, which wazero does not free after a failed start.
func (i *instance) close() {
	if i.guest != nil {
		i.guest.Close(context.Background())
	}
	if i.memory != nil {
		i.memory.Free()
	}
}
