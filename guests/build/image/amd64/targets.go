package amd64

// Jumps name the number of the instruction they lead to, in its function: by how long ago the function last jumped there, or how
// many instructions ahead it is.

const (
	jumpRaw  = 0   // to no instruction: the displacement is a far jump
	jumpLast = 128 // 1 to 128: to one of the recent targets
	jumpFar  = 255 // 129 to 254: so many instructions ahead, from 1; 255: the distance is a far jump
)

// recent are the last targets of a function, the last first.
type recent struct {
	list [jumpLast]int
	n    int
}

// index returns the index of a target, -1: it is none of them.
func (r *recent) index(target int) int {
	for i, t := range r.list[:r.n] {
		if t == target {
			return i
		}
	}
	return -1
}

// first moves a target to the front. i is its index, -1: it is new.
func (r *recent) first(target, i int) {
	if i < 0 {
		r.n = min(r.n+1, len(r.list))
		i = r.n - 1
	}
	copy(r.list[1:i+1], r.list[:i])
	r.list[0] = target
}

// write writes a target for the instruction here.
func (r *recent) write(s *streams, target, here int) {
	i := r.index(target)
	switch ahead := target - here; {
	case i >= 0:
		s.bytes(jumps, byte(1+i))
	case ahead > 0 && jumpLast+ahead < jumpFar:
		s.bytes(jumps, byte(jumpLast+ahead))
	default:
		s.bytes(jumps, jumpFar)
		s.signed(farJumps, int64(ahead))
	}
	r.first(target, i)
}

// read reads a target that code tells of, which is not jumpRaw.
func (r *recent) read(in *reader, code byte, here int) int {
	target, i := 0, -1
	switch {
	case int(code) <= jumpLast:
		i = int(code) - 1
		target = r.list[i]
	case code < jumpFar:
		target = here + int(code) - jumpLast
	default:
		target = here + int(in.signed(farJumps))
	}
	if i >= r.n {
		in.err = errDamaged
		return 0
	}
	r.first(target, i)
	return target
}
