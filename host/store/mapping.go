package store

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
)

// Access is what the owner of a mapping may do with its bytes.
type Access int

// Accesses of mappings.
const (
	// ReadOnly bytes are shared with the page cache. Writing to them ends the process.
	ReadOnly Access = iota
	// Private bytes may be written to. Pages that are written to become memory of this process; the blob stays as it is.
	Private
)

// Mapper is a BlobReader that can map its blob.
type Mapper interface {
	// Map maps the whole blob. The mapping stays valid when the reader is closed and the blob dropped.
	Map(a Access) (*Mapping, error)
}

// Map maps the blob of a reader, or reads it into memory if the reader is no Mapper. A part of a mapped file that cannot be
// read faults at its first use: see Guard.
func Map(r BlobReader, a Access) (*Mapping, error) {
	if m, ok := r.(Mapper); ok {
		return m.Map(a)
	}
	data := make([]byte, r.Size())
	if n, err := r.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	return NewMapping("memory", data, nil), nil
}

// Mapping is the content of a blob as memory. It is safe for concurrent use.
type Mapping struct {
	file    string
	data    []byte
	release func() error
	once    sync.Once
}

// NewMapping returns a mapping of a file. release, which may be nil, is called once, by Close.
func NewMapping(file string, data []byte, release func() error) *Mapping {
	return &Mapping{file: file, data: data, release: release}
}

// Bytes returns the content. Using it after Close ends the process.
func (m *Mapping) Bytes() []byte { return m.data }

// File returns the name of the mapped file, for messages.
func (m *Mapping) File() string { return m.file }

// Close unmaps the content. The owner ensures that nobody uses the bytes any more. Closing twice succeeds.
func (m *Mapping) Close() (err error) {
	m.once.Do(func() {
		if m.release != nil {
			err = m.release()
		}
	})
	return err
}

// FaultError is the error of Guard for memory that could not be read.
type FaultError struct {
	Address uintptr
	cause   error
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("a mapped file is damaged or was cut off: reading it failed: %v", e.cause)
}

func (e *FaultError) Unwrap() error { return e.cause }

// In reports whether the memory is that of a mapping.
func (e *FaultError) In(m *Mapping) bool {
	begin := reflect.ValueOf(m.data).Pointer()
	return e.Address >= begin && e.Address-begin < uintptr(len(m.data))
}

// Guard calls do, which reads mappings. If a mapped page cannot be read, because the file was cut off or the disk failed, do ends
// there as if it had panicked, and the error is a FaultError. Other goroutines that do starts need a Guard of their own.
func Guard(do func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer RecoverFault(&err)
	do()
	return nil
}

// RecoverFault is deferred by a function that is its own Guard, after debug.SetPanicOnFault: it sets err to the FaultError of a mapped page
// that could not be read.
func RecoverFault(err *error) {
	p := recover()
	if p == nil {
		return
	}
	fault := faultOf(p)
	if fault == nil {
		panic(p)
	}
	*err = fault
}

// faultOf returns the FaultError of a recovered value; nil if it is another panic.
func faultOf(recovered any) error {
	cause, ok := recovered.(runtime.Error)
	if !ok {
		return nil
	}
	var at interface{ Addr() uintptr }
	if !errors.As(cause, &at) {
		return nil
	}
	return &FaultError{at.Addr(), cause}
}
