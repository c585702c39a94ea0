package sandbox

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// resolve returns the limits of a module: the defaults, overridden by its manifest, then by the operator, and capped at
// the maximum.
func resolve(asked, said abi.Limits) abi.Limits {
	limits, most := abi.DefaultLimits(), abi.MaxLimits()
	over(&limits, asked)
	over(&limits, said)
	each(&limits, most, func(value *int64, most int64) { *value = min(*value, most) })
	return limits
}

// lower returns limits capped by the nonzero fields of than.
func lower(limits, than abi.Limits) abi.Limits {
	if than == (abi.Limits{}) {
		return limits
	}
	each(&limits, than, func(value *int64, than int64) {
		if than > 0 {
			*value = min(*value, than)
		}
	})
	return limits
}

func over(limits *abi.Limits, said abi.Limits) {
	each(limits, said, func(value *int64, said int64) {
		if said > 0 {
			*value = said
		}
	})
}

// each calls f with every limit and its counterpart in others.
func each(limits *abi.Limits, others abi.Limits, f func(value *int64, other int64)) {
	byName := map[string]int64{}
	others.Each(func(name string, value *int64) { byName[name] = *value })
	limits.Each(func(name string, value *int64) { f(value, byName[name]) })
}

// structural returns the bounds of a module's contents.
func structural() wasm.Limits {
	l := abi.DefaultModuleLimits()
	return wasm.Limits{
		Module: int(l.ModuleBytes), Types: int(l.Types), Params: int(l.Params), Results: int(l.Results),
		Imports: int(l.Imports), Functions: int(l.Functions), Tables: int(l.Tables), Globals: int(l.Globals),
		Exports: int(l.Exports), Elements: int(l.Elements), Table: int(l.References), Data: int(l.Data),
		Locals: int(l.Locals), AllLocals: int(l.AllLocals), Body: int(l.BodyBytes), Code: int(l.CodeBytes), Nesting: int(l.Nesting),
		Branches: int(l.Branches), Operands: int(l.Operands), Customs: int(l.Customs), Name: int(l.NameBytes),
	}
}

// maxMetered bounds the metered form of a module, in bytes: a few times what compilers' output needs.
const maxMetered = 48 << 20

// roomy returns bounds for the rewritten form of a module within bounds: the rewriter adds some of everything.
func roomy() wasm.Limits {
	l := structural()
	for _, bound := range []*int{
		&l.Types, &l.Params, &l.Results, &l.Imports, &l.Functions, &l.Tables, &l.Globals, &l.Exports, &l.Elements, &l.Table,
		&l.Data, &l.Locals, &l.Nesting, &l.Branches, &l.Operands, &l.Customs, &l.Name,
	} {
		*bound = 2**bound + 1000
	}
	l.Module, l.Body, l.Code = 4*l.Module, 4*l.Body, maxMetered
	l.AllLocals += 8 * l.Functions
	return l
}
