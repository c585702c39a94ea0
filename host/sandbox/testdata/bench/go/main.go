// Command go is a guest for the benchmarks: it decodes its request, asks the host for a memory, and answers with both.
package main

import (
	"encoding/json"
	"unsafe"
)

//go:wasmimport alcove read
func read(channel int32, to unsafe.Pointer, capacity uint32) int32

//go:wasmimport alcove write
func write(channel int32, from unsafe.Pointer, length uint32) int32

//go:wasmimport alcove call
func call(op unsafe.Pointer, opLength uint32, request unsafe.Pointer, length uint32) int32

type asked struct {
	Tool      string
	Arguments struct{ Text string }
}

type memory struct {
	Key, Value string
	Version    int
}

type answer struct {
	Length int    `json:"length"`
	Memory memory `json:"memory"`
}

// init makes encoding/json learn the types, once for each instance: what it learns is in the state that the instance
// is put back to.
func init() {
	respond([]byte(`{"tool":"","arguments":{"text":""}}`), []byte(`{"key":"","value":"","version":1}`))
}

func respond(request, found []byte) []byte {
	var a asked
	var m memory
	if json.Unmarshal(request, &a) != nil || json.Unmarshal(found, &m) != nil {
		return nil
	}
	out, _ := json.Marshal(answer{len(a.Arguments.Text), m})
	return out
}

func receive(channel int32, length uint32) []byte {
	buffer := make([]byte, length+1)
	return buffer[:read(channel, unsafe.Pointer(&buffer[0]), length)]
}

//go:wasmexport alcove_handle
func handle(kind, length uint32) uint32 {
	request := receive(0, length)
	op, body := "memory.get", `{"key":"tea"}`
	n := call(unsafe.Pointer(unsafe.StringData(op)), uint32(len(op)), unsafe.Pointer(unsafe.StringData(body)), uint32(len(body)))
	out := respond(request, receive(1, uint32(max(n, -n))))
	write(0, unsafe.Pointer(unsafe.SliceData(out)), uint32(len(out)))
	return 0
}

func main() {}
