package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// Options configure Admit. The zero value is for an unvetted module.
type Options struct {
	Digest string     // the required SHA-256, hexadecimal; empty: any
	Bare   bool       // admit a module without a manifest
	Vetted bool       // compile in this process
	Limits abi.Limits // of requests; zero fields: the manifest's, or the default
	// CompileTimeout raises the compiler's timeout for a module that is known to compile eventually, even on a busy machine. A
	// shorter one is ignored.
	CompileTimeout time.Duration
	Body           string  // of a Source without a section alcove.source: as Precompile returns it for these bytes; empty: unknown
	Native         *Native // native code that came with this program; nil: none
}

// checks is the version of the admission checks in cache keys: a cached module is not checked again.
const checks = "2"

// admission is the state of admitting one module.
type admission struct {
	sandbox   *Sandbox // nil: check only
	options   Options
	read      func() (Binary, error) // reads binary; nil: it is there
	binary    []byte
	digest    [sha256.Size]byte
	body      string // cache entry for the module without custom sections; empty: unknown
	module    *wasm.Module
	validated *wasm.Validated
	manifest  *abi.Manifest
	source    []byte // nil: it has none
	limits    abi.Limits
	rewritten []byte
	metering  meter.Report
}

// Admit validates, meters and compiles a module. A *Refusal means that the module is at fault; other errors are the
// host's. module is neither changed nor retained. Modules whose metered form is equal share their native code.
func (s *Sandbox) Admit(ctx context.Context, module []byte, options Options) (*Module, error) {
	return s.AdmitBinary(ctx, Hash(module), options)
}

// AdmitBinary is Admit for bytes that were hashed.
func (s *Sandbox) AdmitBinary(ctx context.Context, b Binary, options Options) (*Module, error) {
	a := &admission{sandbox: s, options: options, binary: b.bytes, digest: b.digest}
	if err := a.checkDigest(); err != nil {
		return nil, err
	}
	manifest, _ := ManifestBytes(b.bytes) // without one, it is bare or refused below
	return a.admit(ctx, manifest)
}

// Source is a module whose bytes are read only on a cache miss.
type Source struct {
	Digest   string                 // SHA-256 of its bytes, hexadecimal
	Manifest []byte                 // contents of its manifest section
	Read     func() (Binary, error) // its bytes, which are hashed as they are read
}

// AdmitSource is like Admit, but reads the module only on a cache miss. The code that runs is compiled from bytes with
// the source's digest or, if the caller gives it, with its body. The caller
// vouches that these digests are the module's at present.
func (s *Sandbox) AdmitSource(ctx context.Context, source Source, options Options) (*Module, error) {
	a := &admission{sandbox: s, options: options, read: source.Read}
	if n, err := hex.Decode(a.digest[:], []byte(source.Digest)); err != nil || n != len(a.digest) {
		return nil, fmt.Errorf("admit a module: %q is not a SHA-256", source.Digest)
	}
	if err := a.checkDigest(); err != nil {
		return nil, err
	}
	if m, err := a.known(ctx, source.Manifest); m != nil || err != nil {
		return m, err
	}
	if options.Body != "" {
		if m, err := a.ofBody(ctx, options.Body, source.Manifest); m != nil || err != nil {
			return m, err
		}
	}
	if err := a.readBinary(); err != nil {
		return nil, err
	}
	if manifest, err := ManifestBytes(a.binary); err != nil || !bytes.Equal(manifest, source.Manifest) {
		return nil, refuse(abi.ClassManifest, "pack it again", "its manifest is not the one that it was listed with")
	}
	return a.admit(ctx, source.Manifest)
}

// readBinary reads the module, which must have the digest.
func (a *admission) readBinary() error {
	binary, err := a.read()
	if err != nil {
		return fmt.Errorf("read the module: %w", err)
	}
	a.options.Digest = hex.EncodeToString(a.digest[:])
	a.binary, a.digest = binary.bytes, binary.digest
	return a.checkDigest()
}

// admit admits a module whose bytes have the digest.
func (a *admission) admit(ctx context.Context, manifest []byte) (*Module, error) {
	if m, err := a.cached(ctx, manifest); m != nil || err != nil {
		return m, err
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	return a.checked(ctx, manifest)
}

// cached admits a module that passed before, in whole or but for its manifest. It returns nil for any other.
func (a *admission) cached(ctx context.Context, manifest []byte) (*Module, error) {
	if m, err := a.known(ctx, manifest); m != nil || err != nil {
		return m, err
	}
	return a.knownBody(ctx)
}

// Compile admits a module that another sandbox interprets, without checking and metering it again.
func (s *Sandbox) Compile(ctx context.Context, interpreted *Module) (*Module, error) {
	a := *interpreted.admission
	a.sandbox = s
	manifest, _ := ManifestBytes(a.binary)
	if m, err := a.cached(ctx, manifest); m != nil || err != nil {
		return m, err
	}
	return a.checked(ctx, manifest)
}

// checked admits a module that passed its checks.
func (a *admission) checked(ctx context.Context, manifest []byte) (*Module, error) {
	c, err := a.compile(ctx)
	if err != nil {
		return nil, err
	}
	k := admissionRecord{Code: hex.EncodeToString(c.digest[:])}
	for _, m := range a.module.Memories {
		k.MemoryPages += int64(m.Min)
	}
	if err := a.keep(k, manifest); err != nil {
		a.sandbox.log.Warn("a module has to be checked again next time", "error", err)
	}
	return a.finish(c)
}

// finish returns the admitted module, which takes over the caller's reference to c.
func (a *admission) finish(c *code) (*Module, error) {
	s := a.sandbox
	m := &Module{
		sandbox: s, digest: hex.EncodeToString(a.digest[:]), manifest: a.manifest, source: bytes.Clone(a.source), limits: a.limits,
		code: c, rate: newRate(s.since), slots: make(chan struct{}, instances(a.limits)),
	}
	m.family = "bare-" + m.digest[:12] // each unnamed module is its own family
	if a.manifest != nil {
		m.family = a.manifest.Name
	}
	m.log = s.log.With("family", m.family)
	if s.interpret {
		m.admission = a
	}
	if err := s.remember(m); err != nil {
		s.release(c)
		return nil, err
	}
	return m, nil
}

func (s *Sandbox) remember(m *Module) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.modules[m] = struct{}{}
	return nil
}

// check runs all checks before metering, in the order of the refusal classes.
func (a *admission) check() error {
	steps := []func() error{
		a.checkDigest, a.checkSize, a.checkStructure, a.checkReserved, a.checkManifest, a.checkImports, a.checkExports, a.checkDeclared,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (a *admission) checkDigest() error {
	got := hex.EncodeToString(a.digest[:])
	if want := strings.ToLower(a.options.Digest); want != "" && want != got {
		return refuse(abi.ClassDigest, "fetch it again, or pin what it is now", "its SHA-256 is %s, not %s", got, want)
	}
	return nil
}

func (a *admission) checkSize() error {
	if most := abi.DefaultModuleLimits().ModuleBytes; int64(len(a.binary)) > most {
		return refuse(abi.ClassSize, "leave out what it does not need: "+debugFlags, "it has %d bytes, and %s is %d", len(a.binary), abi.LimitModuleBytes, most)
	}
	return nil
}

// checkStructure decodes and validates the module.
func (a *admission) checkStructure() error {
	validated, err := wasm.Parse(a.binary, structural())
	if err != nil {
		r := refuse(abi.ClassStructure, structureAdvice(a.binary), "it is not a valid module within bounds")
		r.Err = err
		return r
	}
	a.validated, a.module = validated, validated.Module
	a.limits = a.first()
	if err := a.checkElements(); err != nil {
		return err
	}
	return a.setSource(customs(a.module, abi.SourceSection))
}

// setSource sets the source, of which a module has at most one. It is data for the guest: the host does not read it.
func (a *admission) setSource(sections [][]byte) error {
	most := abi.DefaultModuleLimits().SourceBytes
	switch {
	case len(sections) == 0:
	case len(sections) > 1:
		return refuse(abi.ClassStructure, "pack it again", "it has %d sections %s", len(sections), abi.SourceSection)
	case int64(len(sections[0])) > most:
		return refuse(abi.ClassStructure, "make the source smaller", "its section %s has %d bytes, and %s is %d", abi.SourceSection, len(sections[0]), abi.LimitSourceBytes, most)
	default:
		a.source = sections[0]
	}
	return nil
}

// first returns the limits before the manifest is read. Manifests do not affect the table limit.
func (a *admission) first() abi.Limits { return resolve(abi.Limits{}, a.options.Limits) }

// checkElements refuses a module whose element segments are out of bounds: instead of trapping, wazero skips such a
// segment and all later ones. Offsets are constants, as globals cannot be imported.
func (a *admission) checkElements() error {
	for _, e := range a.module.Elements {
		if e.Mode != wasm.Active || int(e.Table) >= len(a.module.Tables) {
			continue // imported tables are refused later
		}
		at, ok := constant(e.At)
		size := uint64(a.module.Tables[e.Table].Min)
		if ok && uint64(at)+uint64(len(e.Funcs)+len(e.Exprs)) > size {
			return refuse(abi.ClassStructure, "make the table larger", "the element segment at byte %d goes past the end of its table of %d elements", e.Offset, size)
		}
	}
	return nil
}

// constant returns the value of a constant expression, if it is an i32.const.
func constant(e wasm.Expr) (uint32, bool) {
	code := wasm.Code{Body: e.Bytes}
	r := code.Instructions(0)
	var in wasm.Instr
	if r.Next(&in) != nil || in.Op != wasm.OpI32Const {
		return 0, false
	}
	return uint32(in.Value), true
}

// version returns the part of a cache key that covers everything but the module's bytes.
func (a *admission) version() string {
	schema := sha256.Sum256(abi.ManifestSchema())
	return fmt.Sprintf("%s-%s-%x-%d", meter.Version, checks, schema[:4], a.first().TableElements)
}

func (a *admission) checkReserved() error {
	for _, i := range a.module.Imports {
		if strings.HasPrefix(i.Module, abi.Reserved) || strings.HasPrefix(i.Name, abi.Reserved) {
			return checkNotReserved(i.Module+"."+i.Name, i.Offset)
		}
	}
	for _, e := range a.module.Exports {
		if strings.HasPrefix(e.Name, abi.Reserved) {
			return checkNotReserved(e.Name, e.Offset)
		}
	}
	return nil
}

func checkNotReserved(name string, offset int) error {
	return refuse(abi.ClassReserved, "rename it", "it uses the name %q at byte %d, and names that begin with %q belong to the host", name, offset, abi.Reserved)
}

func (a *admission) checkImports() error {
	for _, i := range a.module.Imports {
		allowed := allowedImports(i.Module)
		if allowed == nil {
			return refuse(abi.ClassImport, importAdvice(i.Module, i.Name), "it imports %q from %q at byte %d", i.Name, i.Module, i.Offset)
		}
		if i.Kind != wasm.KindFunc {
			return refuse(abi.ClassImport, "define it in the module itself: with wasm-ld, leave out --import-memory and --import-table; with asc, leave out --importMemory", "it imports the %v %q from %q at byte %d", i.Kind, i.Name, i.Module, i.Offset)
		}
		f := named(allowed, i.Name)
		if f == nil {
			return refuse(abi.ClassImport, "pack it with alcove family pack, which puts a stub in its place: guests have no files, no network and no environment", "it imports the function %q from %q at byte %d, which is not on the list", i.Name, i.Module, i.Offset)
		}
		if got := a.signature(i.Func); got != written(f.Params, f.Results) {
			return refuse(abi.ClassImport, "declare it so", "it imports %s.%s as %s, which is %s", i.Module, i.Name, got, written(f.Params, f.Results))
		}
	}
	return nil
}

func allowedImports(module string) []abi.Function {
	switch module {
	case abi.Module:
		return abi.Imports()
	case abi.WASIModule:
		return abi.WASI()
	}
	return nil
}

func named(functions []abi.Function, name string) *abi.Function {
	for i := range functions {
		if functions[i].Name == name {
			return &functions[i]
		}
	}
	return nil
}

// signature formats the function type at an index.
func (a *admission) signature(index uint32) string {
	if int(index) >= len(a.module.Types) {
		return "a type that is not there"
	}
	t := a.module.Types[index]
	return written(t.Params, t.Results)
}

// written formats a signature for error messages, as (i32, i32) → (i32).
func written[T ~byte](params, results []T) string {
	return "(" + strings.Join(typeNames(params), ", ") + ") → (" + strings.Join(typeNames(results), ", ") + ")"
}

func typeNames[T ~byte](types []T) []string {
	known := map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref"}
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = known[byte(t)]
	}
	return list
}

func (a *admission) checkExports() error {
	found := map[string]wasm.Export{}
	for _, e := range a.module.Exports {
		found[e.Name] = e
	}
	if e, ok := found[abi.MemoryExport]; !ok || e.Kind != wasm.KindMemory {
		return refuse(abi.ClassExport, "export its memory under that name", "it exports no memory named %q", abi.MemoryExport)
	}
	for _, f := range abi.Exports() {
		e, ok := found[f.Name]
		if !ok && !f.Required {
			continue
		}
		want := written(f.Params, f.Results)
		if !ok || e.Kind != wasm.KindFunc {
			return refuse(abi.ClassExport, exportAdvice(found), "it exports no function %s of type %s", f.Name, want)
		}
		if got := a.signature(a.typeOf(e.Index)); got != want {
			return refuse(abi.ClassExport, "give it that type", "it exports %s as %s, not as %s", f.Name, got, want)
		}
	}
	return nil
}

// typeOf returns the type index of a function.
func (a *admission) typeOf(function uint32) uint32 {
	for _, i := range a.module.Imports {
		if i.Kind != wasm.KindFunc {
			continue
		}
		if function == 0 {
			return i.Func
		}
		function--
	}
	if int(function) < len(a.module.Functions) {
		return a.module.Functions[function]
	}
	return math.MaxUint32
}

// checkDeclared checks the module's initial sizes against its limits, and caps each table's maximum so that their sum
// stays within the limit.
func (a *admission) checkDeclared() error {
	for _, m := range a.module.Memories {
		if int64(m.Min) > a.limits.MemoryPages {
			return refuse(abi.ClassDeclared, "ask for more in the manifest, or start with less", "it starts with %d pages of memory, and %s is %d", m.Min, abi.LimitMemoryPages, a.limits.MemoryPages)
		}
	}
	var elements int64
	for _, t := range a.module.Tables {
		elements += int64(t.Min)
	}
	if elements > a.limits.TableElements {
		return refuse(abi.ClassDeclared, "use smaller tables", "its tables start with %d elements, and %s is %d", elements, abi.LimitTableElements, a.limits.TableElements)
	}
	for i := range a.module.Tables {
		t := &a.module.Tables[i]
		most := uint32(int64(t.Min) + (a.limits.TableElements-elements)/int64(len(a.module.Tables)))
		if !t.HasMax || t.Max > most {
			t.HasMax, t.Max = true, most
		}
	}
	return nil
}

func (a *admission) rewrite() error {
	var name *meter.NameError
	var large *meter.SizeError
	rewritten, report, err := meter.Rewrite(a.validated, meter.Options{TableMax: math.MaxUint32, MaxBytes: maxMetered})
	switch {
	case errors.As(err, &name):
		return checkNotReserved(name.Name, name.Offset)
	case errors.As(err, &large):
		return refuse(abi.ClassCompile, "make it smaller", "its metered code has more than %d bytes", large.Most)
	case err != nil:
		return fmt.Errorf("meter the module: %w", err)
	}
	a.rewritten, a.metering = rewritten, report
	return nil
}

// compile meters the module and returns its native code. It handles one module at a time, to bound memory.
func (a *admission) compile(ctx context.Context) (*code, error) {
	s := a.sandbox
	select {
	case s.compiling <- struct{}{}:
		defer func() { <-s.compiling }()
	case <-ctx.Done():
		return nil, fmt.Errorf("compile the module: %w", ctx.Err())
	}
	if a.rewritten == nil {
		if err := a.rewrite(); err != nil {
			return nil, err
		}
	}
	digest := sha256.Sum256(a.rewritten)
	if s.interpret {
		return s.prepare(ctx, digest, a.rewritten)
	}
	if c, err := s.load(ctx, digest); c != nil || err != nil {
		return c, err
	}
	if c, err := s.linkNative(ctx, digest, a.rewritten, a.options.Native); c != nil || err != nil {
		return c, err
	}
	if a.options.Vetted {
		return s.compileHere(ctx, digest, a.rewritten)
	}
	functions, err := a.functions()
	if err != nil {
		return nil, err
	}
	return s.compileApart(ctx, digest, a.rewritten, functions, max(s.compiler.Timeout, a.options.CompileTimeout))
}

// functions returns the number of functions in the metered module. It also checks that the module can be decoded.
func (a *admission) functions() (int, error) {
	m, err := wasm.Decode(a.rewritten, roomy())
	var fault *wasm.Error
	switch {
	case errors.As(err, &fault) && fault.Class == wasm.TooLarge:
		return 0, refuse(abi.ClassCompile, "make its functions smaller", "its metered code is too large: %s is %d", fault.What, fault.Value)
	case err != nil:
		return 0, fmt.Errorf("decode the metered module: %w", err)
	}
	return len(m.Functions), nil
}

// engine returns the runtime that all modules share. Its memory limit is the maximum; each instance enforces its module's.
func (s *Sandbox) engine() (wazero.Runtime, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.runtime != nil {
		return s.runtime, nil
	}
	config := runtimeConfig(s.compiled)
	if s.interpret {
		config = configured(wazero.NewRuntimeConfigInterpreter())
	}
	r := wazero.NewRuntimeWithConfig(context.Background(), config)
	if err := hostModules(context.Background(), r); err != nil {
		return nil, errors.Join(err, r.Close(context.Background()))
	}
	s.runtime = r
	return r, nil
}
