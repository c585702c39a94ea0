package alcove

// served is what this program serves: the exported function that the host calls has no other way to find it.
var served *Family

// Serve makes the families those which this guest serves. It is called from the init function of package main, before any
// request: what it prepares is in the state that each request starts from.
//
// One family serves every request. Several are made one module with a manifest for each family: they need names (see
// Named), and each request goes to the family that its context names.
func Serve(families ...*Family) {
	served = together(families)
	reserve()
}

// Named gives a family the name of its manifest, by which requests find it in a module of several, and returns it.
func (f *Family) Named(name string) *Family {
	f.name = name
	return f
}

// together is one family that passes requests on to all; nil for none.
func together(families []*Family) *Family {
	switch len(families) {
	case 0:
		return nil
	case 1:
		return families[0]
	}
	all := New()
	all.named = map[string]*Family{}
	for _, f := range families {
		if f.name == "" || all.named[f.name] != nil {
			panic("alcove: serve several families: each needs a name of its own: " + f.name)
		}
		all.named[f.name] = f
	}
	return all
}

// of is the family that a request is for. A family that is alone serves all.
func (f *Family) of(c Context) (*Family, error) {
	if f.named == nil {
		return f, nil
	}
	if one := f.named[c.Family]; one != nil {
		return one, nil
	}
	return nil, Errorf(NotFound, "this module has no family %q", c.Family)
}
