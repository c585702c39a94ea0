package amd64

import "bytes"

// An exit stores what the host needs, by a register that has the execution context, and returns to the host. Code of the guest
// has one behind each access to its memory.

// exitCode is how far the exit's code is behind its start, and the code that follows it is known.
type exitForm struct {
	bytes []byte
	code  int // the offset of the exit's code, a byte
}

// exits are the exits by register.
type exits [16]exitForm

func newExits() *exits {
	var e exits
	for r := range e {
		e[r] = newExit(byte(r))
	}
	return &e
}

func newExit(context byte) exitForm {
	var b []byte
	move := func(wide bool, op, register byte, offset int) { // between a register and the context
		rex := byte(0x40) | context>>3
		if wide {
			rex |= 8
		}
		if rex != 0x40 {
			b = append(b, rex)
		}
		mod := byte(1)
		switch {
		case offset == 0 && context&7 != 5:
			mod = 0
		case offset > 0x7f:
			mod = 2
		}
		b = append(b, op, mod<<6|register<<3|context&7)
		if context&7 == 4 {
			b = append(b, 0x24)
		}
		switch mod {
		case 1:
			b = append(b, byte(offset))
		case 2:
			b = append(b, byte(offset), byte(offset>>8), 0, 0)
		}
	}
	const load, store, sp, bp = 0x8b, 0x89, 4, 5
	move(true, store, sp, 0x38)
	move(true, store, bp, 0x480)
	f := exitForm{code: len(b) + 1}
	b = append(b, 0xbd, 0, 0, 0, 0) // mov ebp, code
	move(false, store, bp, 0)
	b = append(b, 0x48, 0x8d, 0x2d, 0xf9, 0xff, 0xff, 0xff) // lea rbp, its own address
	move(true, store, bp, 0x30)
	move(true, load, bp, 0x10)
	move(true, load, sp, 0x18)
	f.bytes = append(b, 0xc3)
	return f
}

// at reports whether b begins with an exit, and by which register.
func (e *exits) at(b []byte) (register byte, ok bool) {
	if len(b) < 3 || b[0]&0xf8 != 0x48 || b[1] != 0x89 {
		return 0, false
	}
	register = b[0]&1<<3 | b[2]&7
	f := e[register]
	return register, len(b) >= len(f.bytes) && bytes.Equal(b[:f.code], f.bytes[:f.code]) && bytes.Equal(b[f.code+1:len(f.bytes)], f.bytes[f.code+1:])
}

// appendTo appends an exit with a code.
func (f exitForm) appendTo(b []byte, code byte) []byte {
	at := len(b) + f.code
	b = append(b, f.bytes...)
	b[at] = code
	return b
}
