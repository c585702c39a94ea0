package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/meter"
)

// guestContext is the context of an instance, through which host functions find the request. It inherits nothing from
// the caller's context, as wazero reads features from contexts.
type guestContext struct {
	context.Context
	instance *instance
}

// callOf returns the request that an instance serves. wazero passes contexts through unchanged.
func callOf(ctx context.Context) *call { return ctx.(*guestContext).instance.call }

// function is a host function. Its arguments and result are on the stack.
type function func(c *call, m api.Module, stack []uint64)

// hostModules instantiates the modules that guests import from.
func hostModules(ctx context.Context, r wazero.Runtime) error {
	alcove := map[string]function{"read": hostRead, "write": hostWrite, "call": hostCall}
	if err := hostModule(ctx, r, abi.Module, abi.Imports(), alcove); err != nil {
		return err
	}
	tick := []abi.Function{{Name: meter.TickName}}
	if err := hostModule(ctx, r, meter.TickModule, tick, map[string]function{meter.TickName: hostTick}); err != nil {
		return err
	}
	return hostModule(ctx, r, abi.WASIModule, abi.WASI(), wasiFunctions())
}

func hostModule(ctx context.Context, r wazero.Runtime, name string, signatures []abi.Function, functions map[string]function) error {
	b := r.NewHostModuleBuilder(name)
	for _, s := range signatures {
		f, ok := functions[s.Name]
		if !ok {
			return fmt.Errorf("make the functions of %s: %s is missing", name, s.Name)
		}
		wrapped := api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) { f(callOf(ctx), m, stack) })
		b.NewFunctionBuilder().WithGoModuleFunction(wrapped, valueTypes(s.Params), valueTypes(s.Results)).Export(s.Name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("make the functions of %s: %w", name, err)
	}
	return nil
}

func valueTypes(types []abi.ValueType) []api.ValueType {
	list := make([]api.ValueType, len(types))
	for i, t := range types {
		list[i] = api.ValueType(t)
	}
	return list
}

// fault encodes a negative result of read or write.
func fault(f abi.Fault) uint64 { return api.EncodeI32(int32(f)) }

// hostRead implements read(channel, pointer, capacity).
func hostRead(c *call, m api.Module, stack []uint64) {
	c.pulse()
	var from *[]byte
	switch channel := uint32(stack[0]); {
	case channel == abi.ReadRequest && c.starting:
		stack[0] = fault(abi.FaultClosed)
		return
	case channel == abi.ReadRequest:
		from = &c.request
	case channel == abi.ReadResponse:
		from = &c.response
	case channel == abi.ReadSource:
		from = &c.source
	default:
		stack[0] = fault(abi.FaultChannel)
		return
	}
	to, ok := m.Memory().Read(uint32(stack[1]), uint32(stack[2]))
	if !ok {
		stack[0] = fault(abi.FaultRange)
		return
	}
	n := copy(to, *from)
	*from = (*from)[n:]
	stack[0] = uint64(n)
}

// hostWrite implements write(channel, pointer, length).
func hostWrite(c *call, m api.Module, stack []uint64) {
	c.pulse()
	channel := uint32(stack[0])
	if channel != abi.WriteResult && channel != abi.WriteLog {
		stack[0] = fault(abi.FaultChannel)
		return
	}
	data, ok := m.Memory().Read(uint32(stack[1]), uint32(stack[2]))
	switch {
	case channel == abi.WriteResult && c.starting:
		stack[0] = fault(abi.FaultClosed)
		return
	case !ok:
		stack[0] = fault(abi.FaultRange)
		return
	case channel == abi.WriteLog:
		c.log.line("log", data)
	case int64(len(c.output)+len(data)) > c.limits.OutputBytes:
		c.halt(abi.ClassOutput, abi.LimitOutputBytes, "the guest wrote a result of more than %d bytes", c.limits.OutputBytes)
	default:
		c.output = append(c.output, data...)
	}
	stack[0] = 0
}

// hostCall implements call(op, op length, request, request length).
func hostCall(c *call, m api.Module, stack []uint64) {
	c.pulse()
	if c.calls++; c.calls > c.limits.HostCalls {
		c.halt(abi.ClassHostCalls, abi.LimitHostCalls, "the guest made more than %d host calls", c.limits.HostCalls)
	}
	response, err := c.operation(m.Memory(), stack)
	if err == nil && int64(len(response)) > c.limits.CallBytes {
		err = exceeded(abi.LimitCallBytes, c.limits.CallBytes, "the response has %d bytes", len(response))
	}
	if err != nil {
		c.response = c.errorBody(err)
		stack[0] = api.EncodeI32(int32(-len(c.response)))
		return
	}
	c.response = response
	stack[0] = uint64(len(response))
}

// operation runs the operation that the arguments of call describe.
func (c *call) operation(memory api.Memory, stack []uint64) ([]byte, error) {
	op, ok := memory.Read(uint32(stack[0]), uint32(stack[1]))
	request, ok2 := memory.Read(uint32(stack[2]), uint32(stack[3]))
	switch {
	case !ok || !ok2:
		return nil, &abi.Error{Code: abi.CodeInvalidArgument, Message: "the name of the operation or the request is not wholly inside of the guest's memory"}
	case c.starting:
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "no operation can be called while an instance starts: call it when a request is served"}
	case int64(len(op)) > c.limits.OpBytes:
		return nil, exceeded(abi.LimitOpBytes, c.limits.OpBytes, "the name of the operation has %d bytes", len(op))
	case int64(len(request)) > c.limits.CallBytes:
		return nil, exceeded(abi.LimitCallBytes, c.limits.CallBytes, "the request has %d bytes", len(request))
	case c.host == nil:
		return nil, &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("%.64q: nothing was granted", op)}
	}
	// Copies: the host may retain them, and must not see the guest's memory.
	name, body := abi.Op(op), append([]byte(nil), request...)
	c.leave()
	response, err := c.askHost(name, body)
	c.enter()
	return response, err
}

// askHost runs a host operation and turns its panics into errors.
func (c *call) askHost(op abi.Op, request []byte) (response []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.module.sandbox.log.Error("a host operation panicked", "op", string(op), "family", c.module.family, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = &abi.Error{Code: abi.CodeInternal, Message: "the operation failed in the host"}
		}
	}()
	return c.host.Call(c.caller, op, request)
}

// errorBody returns the error as the guest reads it.
func (c *call) errorBody(err error) []byte {
	var e *abi.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e = &abi.Error{Code: abi.CodeTimeout, Message: "the operation did not end in time", Retryable: true}
	default:
		c.module.sandbox.log.Error("a host operation failed", "family", c.module.family, "error", err)
		e = &abi.Error{Code: abi.CodeInternal, Message: "the operation failed in the host"}
	}
	body, marshal := json.Marshal(e)
	if marshal != nil || int64(len(body)) > c.limits.ErrorBytes {
		body, _ = json.Marshal(&abi.Error{Code: e.Code, Message: "the error is too long to be told", Retryable: e.Retryable}) // cannot fail
	}
	return body
}

func exceeded(limit string, most int64, format string, args ...any) *abi.Error {
	message := fmt.Sprintf(format, args...)
	return &abi.Error{Code: abi.CodeExhausted, Message: fmt.Sprintf("%s; %s is %d", message, limit, most), Details: map[string]any{"limit": limit}}
}

// hostTick implements the import that a metered module calls when its fuel is used up.
func hostTick(c *call, m api.Module, _ []uint64) {
	i := c.instance
	if i.fuel == nil { // the start function runs before initialize finds the globals
		i.find(m)
	}
	// The limit is far below wazero's own: growing and unwinding a stack cannot be interrupted.
	if int64(int32(i.depth.Get())) > c.limits.CallDepth {
		c.halt(abi.ClassStack, abi.LimitCallDepth, "the guest's calls were nested more than %d deep", c.limits.CallDepth)
	}
	owed := -int64(i.fuel.Get())
	i.fuel.Set(uint64(c.tick(owed) - owed))
}
