package gen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// family is what a package says of its family.
type family struct {
	*pkg
	name, version, about string // about is the package's comment
	manifestPath         string
	said                 []declare.Directive // of the package
	parts                []part
	config               types.Type // nil: none
	collections          []collection
	codecs               []types.Type // that the package asks for beside
}

// part is a tool, a job or some hooks: an argument of alcove.New.
type part struct {
	typ   *types.Named
	doc   doc
	tool  *handler
	job   *handler
	hooks map[string]*handler // by the method
}

// handler is a method that serves requests.
type handler struct {
	method     string
	configured bool       // it takes the configuration
	result     types.Type // nil: none
}

// hookMethods are the methods that serve hooks, with the types of their parameters beside *Call and the configuration, and their
// result beside an error.
func hookMethods() map[string][2]string {
	return map[string][2]string{
		"Store":  {"[]alcove.Entry", "[]*alcove.Change"},
		"Guard":  {"*alcove.Entry", ""},
		"Stored": {"[]alcove.Entry", ""},
		"Merged": {"alcove.MergeNotice", ""},
		"Ended":  {"alcove.Session", ""},
		"Rank":   {"*alcove.Ranking", ""},
		"Embed":  {"*alcove.Texts", "[][]float32"},
	}
}

func (p *pkg) family() (*family, error) {
	f := &family{pkg: p, manifestPath: "manifest.json"}
	call, err := p.constructor()
	if err != nil {
		return nil, err
	}
	if err := f.header(); err != nil {
		return nil, err
	}
	for _, argument := range call.Args {
		if err := f.addPart(argument); err != nil {
			return nil, err
		}
	}
	if err := f.findCollections(); err != nil {
		return nil, err
	}
	return f, f.findCodecs()
}

// constructor is the only call of New with the parts of the family.
func (p *pkg) constructor() (call *ast.CallExpr, err error) {
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := c.Fun.(*ast.SelectorExpr)
			if !ok || len(c.Args) == 0 {
				return true
			}
			f, ok := p.info.Uses[selector.Sel].(*types.Func)
			if !ok || f.Name() != "New" || f.Pkg() == nil || f.Pkg().Name() != "alcove" {
				return true
			}
			if call != nil {
				err = errors.Join(err, fmt.Errorf("%s: there is another family: alcove.New is called once in a package", p.at(c.Pos())))
			}
			call, p.sdk = c, f.Pkg().Path()
			return true
		})
	}
	if call == nil {
		return nil, errors.New("nothing calls alcove.New with the parts of a family: return alcove.New(Tool{}, …) from a function Family")
	}
	return call, err
}

var familyName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// header reads the directives and the comment of the package.
func (f *family) header() error {
	for _, file := range f.files {
		list := directives(file.Doc)
		f.said = append(f.said, list...)
		if f.about == "" || len(list) > 0 {
			f.about = strings.TrimSpace(file.Doc.Text())
		}
	}
	f.name, f.version = path.Base(f.path), "0.1.0"
	for _, d := range f.said {
		switch fields := strings.Fields(d.Rest); d.Name {
		case "family":
			if len(fields) != 2 {
				return errors.New("write //alcove:family NAME VERSION, as in //alcove:family facts 1.0.0")
			}
			f.name, f.version = fields[0], fields[1]
		case "manifest":
			f.manifestPath = d.Rest
		case "description", "keywords", "example", "license", "homepage", "deprecated", "needs", "limits":
		default:
			return fmt.Errorf("//alcove:%s is no directive of a package: known are family, description, keywords, example, manifest, license, homepage, deprecated, needs and limits", d.Name)
		}
	}
	if !familyName.MatchString(f.name) {
		return fmt.Errorf("%q is no name of a family: write //alcove:family NAME VERSION above the package clause", f.name)
	}
	return nil
}

func (f *family) addPart(argument ast.Expr) error {
	t := f.info.TypeOf(argument)
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	n := named(t)
	if n == nil || n.Obj().Pkg() != f.types || structOf(t) == nil {
		return fmt.Errorf("%s: a part of a family is a struct of this package", f.at(argument.Pos()))
	}
	p := part{typ: n, doc: f.docOf(n.Obj()), hooks: map[string]*handler{}}
	var err error
	if has(t, "Call") {
		if p.tool, err = f.handler(n, "Call", "", "*"); err != nil {
			return err
		}
	}
	if has(t, "Run") {
		if p.job, err = f.handler(n, "Run", "", "*"); err != nil {
			return err
		}
	}
	for method, form := range hookMethods() {
		if ownMethod(t, method) == nil {
			continue
		}
		if p.hooks[method], err = f.handler(n, method, form[0], form[1]); err != nil {
			return err
		}
	}
	if p.tool == nil && p.job == nil && len(p.hooks) == 0 {
		return fmt.Errorf("%s: %s has none of the methods Call (of a tool), Run (of a job), Store, Guard, Stored, Merged, Ended, Rank and Embed", f.at(argument.Pos()), n.Obj().Name())
	}
	f.parts = append(f.parts, p)
	return nil
}

// handler checks the form of a method: it takes the call, the configuration if it wants it, and an argument unless that is empty; it
// answers a result unless that is empty, and an error. The result * is of any type, or none.
func (f *family) handler(n *types.Named, method, argument, result string) (*handler, error) {
	m := methodOf(n, method)
	s := m.Signature()
	wrong := func(why string) error {
		takes, gives := "c *alcove.Call, cfg Config", "error"
		if argument != "" {
			takes += ", " + argument
		}
		if result == "*" {
			gives = "(Result, error)"
		} else if result != "" {
			gives = "(" + result + ", error)"
		}
		return fmt.Errorf("%s: %s; the method is %s(%s) %s, where cfg may be left out", f.at(m.Pos()), why, method, takes, gives)
	}
	var takes []types.Type
	for v := range s.Params().Variables() {
		takes = append(takes, v.Type())
	}
	text := func(t types.Type) string {
		return types.TypeString(t, func(p *types.Package) string { return p.Name() })
	}
	if len(takes) == 0 || text(takes[0]) != "*alcove.Call" {
		return nil, wrong("its first parameter is no *alcove.Call")
	}
	h := &handler{method: method}
	takes = takes[1:]
	if argument != "" {
		if len(takes) == 0 || text(takes[len(takes)-1]) != argument {
			return nil, wrong("its last parameter is no " + argument)
		}
		takes = takes[:len(takes)-1]
	}
	if len(takes) > 1 {
		return nil, wrong("it has too many parameters")
	}
	if len(takes) == 1 {
		h.configured = true
		if err := f.setConfig(takes[0]); err != nil {
			return nil, wrong(err.Error())
		}
	}
	results := s.Results()
	if results.Len() == 0 || results.Len() > 2 || text(results.At(results.Len()-1).Type()) != "error" {
		return nil, wrong("its last result is no error")
	}
	if results.Len() == 2 {
		h.result = results.At(0).Type()
	}
	switch {
	case result == "*":
	case result == "" && h.result != nil, result != "" && (h.result == nil || text(h.result) != result):
		return nil, wrong("its results are others")
	}
	return h, nil
}

func (f *family) setConfig(t types.Type) error {
	if f.config != nil && !types.Identical(f.config, t) {
		return fmt.Errorf("the configuration is %s here and %s elsewhere", types.TypeString(t, nil), types.TypeString(f.config, nil))
	}
	if structOf(t) == nil {
		return fmt.Errorf("the configuration %s is no struct", types.TypeString(t, nil))
	}
	f.config = t
	return nil
}

// findCodecs finds the types that say //alcove:json.
func (f *family) findCodecs() error {
	for _, name := range f.types.Scope().Names() {
		t, ok := f.types.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		for _, d := range f.docOf(t).directives {
			switch d.Name {
			case "json":
				if structOf(t.Type()) == nil {
					return fmt.Errorf("%s: //alcove:json is for structs", f.at(t.Pos()))
				}
				f.codecs = append(f.codecs, t.Type())
			case "camel":
			case "rule":
				if f.config == nil || named(f.config).Obj() != t {
					return fmt.Errorf("%s: //alcove:rule is for the configuration", f.at(t.Pos()))
				}
			default:
				if !slices.ContainsFunc(f.parts, func(p part) bool { return p.typ.Obj() == t }) {
					return fmt.Errorf("%s: //alcove:%s is for parts of the family, and %s is no argument of alcove.New", f.at(t.Pos()), d.Name, name)
				}
			}
		}
	}
	return nil
}

// setting is what a directive of a part says, and whether there is one.
func (p part) setting(name string) (rest string, ok bool) {
	d, ok := declare.Find(p.doc.directives, name)
	return d.Rest, ok
}

func (p part) name() string { return p.typ.Obj().Name() }

// jobName is the name of the part's job.
func (p part) jobName() string {
	rest, _ := p.setting("job")
	if name := declare.NameIn(rest, nil); name != "" {
		return name
	}
	return declare.Snake(p.name())
}

// toolName is the name of the part's tool.
func (p part) toolName() string {
	rest, _ := p.setting("tool")
	if name := declare.ToolName(rest); name != "" {
		return name
	}
	name := declare.Snake(p.name())
	if strings.HasPrefix(name, "memory_") {
		return name
	}
	return "memory_" + name
}
