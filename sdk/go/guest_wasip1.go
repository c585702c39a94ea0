package alcove

import (
	"runtime"
	"unsafe"
)

//go:wasmimport alcove read
func hostRead(channel int32, to unsafe.Pointer, capacity uint32) int32

//go:wasmimport alcove write
func hostWrite(channel int32, from unsafe.Pointer, length uint32) int32

//go:wasmimport alcove call
func hostCall(op unsafe.Pointer, opLength uint32, request unsafe.Pointer, length uint32) int32

type imports struct{}

func (imports) read(channel int32, to []byte) int {
	return int(hostRead(channel, unsafe.Pointer(unsafe.SliceData(to)), uint32(len(to))))
}

func (imports) write(channel int32, data []byte) {
	hostWrite(channel, unsafe.Pointer(unsafe.SliceData(data)), uint32(len(data)))
}

func (imports) call(op Op, request []byte) int {
	return int(hostCall(unsafe.Pointer(unsafe.StringData(string(op))), uint32(len(op)), unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request))))
}

//go:wasmexport alcove_handle
func handle(kind, length uint32) int32 {
	if served == nil {
		imports{}.write(writeResult, []byte(`{"code":"internal","message":"the guest never called alcove.Serve"}`))
		return statusError
	}
	if kind := Kind(kind); kind == KindTool || kind == KindHook {
		deepen()
	}
	return served.serve(imports{}, Kind(kind), int(length))
}

// deepen has the stack grow at once to what most handlers need. Where it grows below many frames, each of them costs. Scores and
// vectors are made in few.
//
//go:noinline
func deepen() {
	var frame [8 << 10]byte
	runtime.KeepAlive(&frame)
}

// room is how much memory a request finds free. If it needs more, the memory grows, and afterwards it gets its former size back: this
// request and the next one take longer.
const room = 1 << 20

// kept holds what keeps memory of every size at hand.
var kept []any

// reserve makes room for requests, and has the allocator prepare for objects of all small sizes, of which none is less than a sixteenth
// larger than the one before: what it prepares is in the state that each request starts from, and would take longer than a short request
// does.
func reserve() {
	blocks := make([][]byte, 0, room>>15)
	for range cap(blocks) {
		blocks = append(blocks, make([]byte, 32<<10))
	}
	runtime.KeepAlive(blocks)
	blocks = nil
	runtime.GC()
	for size := 8; size <= 2048; size += max(8, size/16) {
		kept = append(kept, make([]byte, size), make([]*byte, size/8))
	}
	grown := make(chan bool)
	go func() { // its stack is the next request's
		deepen()
		close(grown)
	}()
	<-grown
}
