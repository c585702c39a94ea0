// Package abi is the contract between host and guest.
//
// SPEC.md says what it means; abi.json is the one source of every name and number, of which names.go and the
// constants of other languages are generated.
package abi

// Kind is what alcove_handle is asked for.
type Kind uint32

// Status is what alcove_handle answers.
type Status int32

// Fault is what read and write answer when they did nothing.
type Fault int32

// Code is the code of an error.
type Code string

// Outcome is what became of a request to a guest.
type Outcome string

// Class is why a request had its outcome. Each class belongs to one outcome.
type Class string

// Hook is an occasion on which a host calls a guest by itself.
type Hook string

// OnFailure is what a host does when a store hook fails.
type OnFailure string

// Capability is a power that a manifest asks for and an operator grants.
type Capability string

// Feature is a column that a rank hook may ask for.
type Feature string

// Op is an operation that a guest calls.
type Op string

// ValueType is a value type of WebAssembly, in its binary form.
type ValueType byte

// The value types that signatures of the ABI use.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
)

// String is the type's name in the text format.
func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	}
	return "unknown"
}

// Function is the name and the signature of an import or an export.
type Function struct {
	Name     string
	Params   []ValueType
	Results  []ValueType
	Required bool // a module without this export is refused
}

// Error is the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
