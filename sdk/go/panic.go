package alcove

import "runtime"

// recovered is a request whose panic is an error with its text and its position.
func recovered(host Host, serve func() ([]byte, error)) (result []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			position, trace := panicked()
			for _, line := range trace {
				host.Log(line)
			}
			result, err = nil, Errorf(Internal, "panic: %s (%s)", panicText(v), position)
		}
	}()
	return serve()
}

func panicText(v any) string {
	if text, ok := textOf(v); ok {
		return text
	}
	return sprintf("%v", []any{v})
}

// mostFrames is how much of a stack is logged.
const mostFrames = 12

// panicked is where the panic began that is being recovered, and the way there.
func panicked() (position string, trace []string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	begun := false
	for more := true; more && len(trace) < mostFrames; {
		var f runtime.Frame
		f, more = frames.Next()
		inside := begins(f.Function, "runtime.") || begins(f.Function, "internal/")
		if !begun || inside {
			begun = begun || f.Function == "runtime.gopanic"
			continue
		}
		at := base(f.File) + ":" + sprintf("%d", []any{f.Line})
		if position == "" {
			position = at
		}
		trace = append(trace, "  "+f.Function+" "+at)
	}
	return position, trace
}

func begins(text, with string) bool { return len(text) >= len(with) && text[:len(with)] == with }

// base is the last element of a path.
func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}
