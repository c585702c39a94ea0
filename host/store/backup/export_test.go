package backup

// Parse reads a part that comes in pieces of some size, and tells what it is.
func Parse(content []byte, size int, run func([]byte) error, blob func(string, []byte) error) (Part, error) {
	p := newParser(run)
	p.content = blob
	for ; len(content) > size; content = content[size:] {
		if _, err := p.Write(content[:size]); err != nil {
			return Part{}, err
		}
	}
	if _, err := p.Write(content); err != nil {
		return Part{}, err
	}
	if err := p.finish(); err != nil {
		return Part{}, err
	}
	return p.part(), nil
}

// ShrinkAndRemove removes a file step by step; truncate makes each step.
func ShrinkAndRemove(path string, truncate func(path string, size int64) error) error {
	return shrinkAndRemove(path, truncate)
}
