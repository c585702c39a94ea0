package gen

import (
	"errors"
	"fmt"
	"go/types"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// manifest is the manifest of the family.
func (f *family) manifest() ([]byte, error) {
	d := &declare.Family{
		Name: f.name, Version: f.version, Is: "Package " + f.types.Name(), Text: f.about, Said: f.said,
		Limits: abi.Limits{MemoryPages: 512, WallMS: 60_000, CPUMS: 30_000, Fuel: 1_000_000_000_000}, // what a Go guest needs
	}
	for _, p := range f.parts {
		one, err := f.declared(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name(), err)
		}
		d.Parts = append(d.Parts, one)
	}
	var err error
	if d.Config, err = f.settings(); err != nil {
		return nil, err
	}
	if f.config != nil {
		d.ConfigSaid = f.docOf(named(f.config).Obj()).directives
	}
	for _, c := range f.collections {
		d.Collections = append(d.Collections, c.Collection)
	}
	m, err := d.Manifest()
	if errors.Is(err, declare.ErrUndescribed) {
		return nil, errors.New("the package has no comment: its first sentence says what the family does")
	}
	return m, err
}

// declared is a part without the types of Go.
func (f *family) declared(p part) (d declare.Part, err error) {
	d = declare.Part{Name: p.name(), Text: p.doc.text, Said: p.doc.directives}
	known := map[types.Type]*declare.Type{}
	if p.tool != nil {
		d.Tool = &declare.Tool{Name: p.toolName()}
		if d.Tool.Arguments, err = f.typeOf(p.typ, known); err != nil {
			return d, err
		}
		if p.tool.result != nil {
			if d.Tool.Result, err = f.typeOf(p.tool.result, known); err != nil {
				return d, err
			}
		}
	}
	if p.job != nil {
		d.Job = p.jobName()
	}
	for method := range p.hooks {
		d.Hooks = append(d.Hooks, method)
		if method != "Rank" {
			continue
		}
		columns, err := f.columns(p)
		if err != nil {
			return d, err
		}
		for _, c := range columns {
			d.Columns = append(d.Columns, c.Name)
		}
	}
	return d, nil
}
