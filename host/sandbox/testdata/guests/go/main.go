// Command go is a guest that answers a tool call with its text in capital letters, and with the family's
// configuration.
package main

import (
	"encoding/json"
	"strings"
	"unsafe"
)

//go:wasmimport alcove read
func read(channel int32, to unsafe.Pointer, capacity uint32) int32

//go:wasmimport alcove write
func write(channel int32, from unsafe.Pointer, length uint32) int32

//go:wasmimport alcove call
func call(op unsafe.Pointer, opLength uint32, request unsafe.Pointer, length uint32) int32

const request, response, result, log = 0, 1, 0, 1

func receive(channel int32, length uint32) []byte {
	buffer := make([]byte, length+1)
	return buffer[:read(channel, unsafe.Pointer(&buffer[0]), length)]
}

func put(channel int32, data []byte) {
	write(channel, unsafe.Pointer(unsafe.SliceData(data)), uint32(len(data)))
}

func ask(op, body string) []byte {
	length := call(unsafe.Pointer(unsafe.StringData(op)), uint32(len(op)), unsafe.Pointer(unsafe.StringData(body)), uint32(len(body)))
	return receive(response, uint32(max(length, -length))) // JSON, also when it is an error
}

//go:wasmexport alcove_handle
func handle(kind, length uint32) uint32 {
	var asked struct{ Arguments struct{ Text *string } }
	if err := json.Unmarshal(receive(request, length), &asked); err != nil || asked.Arguments.Text == nil {
		put(result, []byte(`{"code":"invalid_argument","message":"give a text"}`))
		return 1
	}
	put(log, []byte("shouting"))
	answer, err := json.Marshal(struct {
		Text   string          `json:"text"`
		Config json.RawMessage `json:"config"`
	}{strings.ToUpper(*asked.Arguments.Text), ask("config.get", "{}")})
	if err != nil {
		put(result, []byte(`{"code":"internal","message":"the answer is no JSON"}`))
		return 1
	}
	put(result, answer)
	return 0
}

func main() {}
