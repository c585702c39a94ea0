package meter_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/spectest"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// wide are limits that admit the suite's extremes.
var wide = wasm.Limits{Branches: 1 << 20, Locals: 1 << 20}

// stage runs a script's commands, metered or unmetered.
type stage struct {
	t       *testing.T
	script  spectest.Script
	runtime wazero.Runtime
	meter   bool
	refill  uint64 // what a tick sets the fuel to
	ticks   int
	modules map[string]api.Module
	last    api.Module
}

func newStage(t *testing.T, s spectest.Script, metered bool, refill uint64) *stage {
	t.Helper()
	st := &stage{t: t, script: s, meter: metered, refill: refill, modules: map[string]api.Module{}}
	st.runtime = wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigCompiler().WithCoreFeatures(api.CoreFeaturesV2))
	t.Cleanup(func() { _ = st.runtime.Close(context.Background()) })
	_, err := st.runtime.InstantiateWithConfig(t.Context(), spectest.Host(t), wazero.NewModuleConfig().WithName("spectest"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.runtime.NewHostModuleBuilder(meter.TickModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, _ []uint64) {
			st.ticks++
			m.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(st.refill)
		}), nil, nil).Export(meter.TickName).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// load instantiates a module of the script; scripts may expect its error.
func (s *stage) load(file, name, registered string) error {
	b := s.script.File(s.t, file)
	if s.meter {
		v, err := wasm.Parse(b, wide)
		if err != nil {
			return err
		}
		if b, _, err = meter.Rewrite(v, meter.Options{TableMax: math.MaxUint32}); err != nil {
			return err
		}
		if _, err := wasm.Parse(b, wasm.Limits{Branches: 1 << 20, Locals: 1 << 20}); err != nil {
			s.t.Errorf("%s: the rewritten module is refused: %v", file, err)
		}
	}
	compiled, err := s.runtime.CompileModule(s.t.Context(), b)
	if err != nil {
		s.t.Errorf("%s: wazero refuses it (metered: %v): %v", file, s.meter, err)
		return err
	}
	m, err := s.runtime.InstantiateModule(s.t.Context(), compiled, wazero.NewModuleConfig().WithName(registered).WithStartFunctions())
	if err != nil {
		return err
	}
	s.last = m
	if name != "" {
		s.modules[name] = m
	}
	return nil
}

func (s *stage) module(name string) api.Module {
	if name == "" {
		return s.last
	}
	return s.modules[name]
}

// act runs an action and describes its outcome: the results, or the error.
func (s *stage) act(a spectest.Action) string {
	m := s.module(a.Module)
	if m == nil {
		return "no module"
	}
	if a.Type == "get" {
		return fmt.Sprint(m.ExportedGlobal(a.Field).Get())
	}
	var words []uint64
	for _, v := range a.Args {
		w, err := v.Bits()
		if err != nil {
			s.t.Fatalf("%s: argument of %s: %v", s.script.Name, a.Field, err)
		}
		words = append(words, w...)
	}
	f := m.ExportedFunction(a.Field)
	results, err := f.Call(s.t.Context(), words...)
	if err != nil {
		return "trap: " + firstLine(err)
	}
	if slices.Equal(f.Definition().ResultTypes(), []api.ValueType{0x70}) { // funcref: an address
		return fmt.Sprint("null: ", results[0] == 0)
	}
	return fmt.Sprint(results)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// run returns the outcome of every command.
func (s *stage) run() []string {
	var outcomes []string
	for i, c := range s.script.Commands {
		if c.ModuleType == "text" || c.Type == "assert_invalid" || c.Type == "assert_malformed" || overlong(s.script.Name, c.Line) {
			continue
		}
		outcome := ""
		switch c.Type {
		case "module":
			if err := s.load(c.Filename, c.Name, s.registered(i)); err != nil {
				outcome = "error: " + firstLine(err)
			}
		case "assert_unlinkable", "assert_uninstantiable":
			was := s.last
			outcome = fmt.Sprint(s.load(c.Filename, "", "") != nil)
			s.last = was
		case "register": // done at instantiation
		default:
			outcome = s.act(c.Action)
		}
		outcomes = append(outcomes, fmt.Sprintf("%d %s %s", c.Line, c.Type, outcome))
	}
	return outcomes
}

// registered is the name under which other modules import the command's module.
func (s *stage) registered(command int) string {
	if next := command + 1; next < len(s.script.Commands) && s.script.Commands[next].Type == "register" {
		return s.script.Commands[next].As
	}
	return ""
}

// overlong is the one module that is refused deliberately.
func overlong(script string, line int) bool { return script == "binary-leb128" && line == 969 }

// TestTheOfficialSuiteGivesTheSameResultsMetered runs every script as it is, with ample fuel, and with fuel for one
// charge at a time. Each day a quarter of the scripts have their turn.
func TestTheOfficialSuiteGivesTheSameResultsMetered(t *testing.T) {
	commands, ticks, all := 0, 0, spectest.Load(t)
	for _, script := range stress.Pick(t, (len(all)+3)/4, all) {
		t.Run(script.Name, func(t *testing.T) {
			plain := newStage(t, script, false, 0).run()
			ample := newStage(t, script, true, 1<<40)
			if got := ample.run(); !slices.Equal(got, plain) {
				t.Errorf("with ample fuel %s", difference(got, plain))
			}
			scarce := newStage(t, script, true, 0)
			if got := scarce.run(); !slices.Equal(got, plain) {
				t.Errorf("with fuel for one charge at a time %s", difference(got, plain))
			}
			commands += len(plain)
			ticks += scarce.ticks
		})
	}
	t.Logf("%d commands, %d ticks with fuel for one charge at a time", commands, ticks)
	if len(all) < 100 || stress.All() && (commands < 45_000 || ticks < 10_000) {
		t.Errorf("%d scripts, %d commands and %d ticks are too few: the suite was not all there", len(all), commands, ticks)
	}
}

func difference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("line %q is %q", want[i], got[i])
		}
	}
	return fmt.Sprintf("there are %d outcomes instead of %d", len(got), len(want))
}
