// Package guests carries the first-party families: one module, and the manifest of each.
//
// A binary that is built with the tag guests has them; they are built before by make guests. Any other has none.
package guests

import (
	"errors"

	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/guests/build/project"
)

// Embedded says whether this binary was built with families in it.
func Embedded() bool { return embedded }

// All are the families of this binary, in the order of their names; none in a binary that was built without them. Their
// modules are unpacked when they are read.
func All() []image.Family {
	if !embedded {
		return nil
	}
	all, err := image.Open(carried)
	if err != nil {
		panic(err) // what make guests wrote can be read
	}
	return all.Families()
}

// Templates are those of new families, with the SDKs.
func Templates() (project.Templates, error) {
	if !embedded {
		return nil, errors.New("this program was built without templates: use a released one, or build it with make build")
	}
	return project.Open(templates)
}
