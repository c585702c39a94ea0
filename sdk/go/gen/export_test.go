package gen

// Again is Generate for a directory whose files changed and import the same: the go command is asked once.
func Again(dir string) (generate func() (*Output, error), err error) {
	p, err := load(dir)
	return func() (*Output, error) {
		if err := p.read(); err != nil {
			return nil, err
		}
		return p.generate()
	}, err
}
