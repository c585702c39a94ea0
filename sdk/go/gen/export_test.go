package gen

import "github.com/alcove-memory/alcove/sdk/go/gen/output"

// Again is Generate for a directory whose files changed and import the same: the go command is asked once.
func Again(dir string) (generate func() (*output.Files, error), err error) {
	p, err := load(dir)
	return func() (*output.Files, error) {
		if err := p.read(); err != nil {
			return nil, err
		}
		return p.generate()
	}, err
}
