package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
	"github.com/alcove-memory/alcove/sdk/go/gen/output"
)

// pkg is the package of a family, without what was generated into it.
type pkg struct {
	dir    string
	path   string // its import path
	sdk    string // that of the SDK
	fset   *token.FileSet
	files  []*ast.File
	types  *types.Package
	info   *types.Info
	listed map[string]listedPackage  // by import path
	docs   map[string]map[string]doc // of the types of a package, by its path
}

// listedPackage is a package as go list tells of it.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Standard, DepOnly       bool
	Error                   *struct{ Err string }
}

// load reads a package. The types of what it imports come from the compiler, so it must build there.
func load(dir string) (*pkg, error) {
	p := &pkg{dir: dir, listed: map[string]listedPackage{}}
	if err := p.list(); err != nil {
		return nil, err
	}
	return p, p.read()
}

// read reads the files that were listed.
func (p *pkg) read() error {
	p.fset, p.docs, p.files = token.NewFileSet(), map[string]map[string]doc{}, nil
	own := p.listed[p.path]
	for _, name := range own.GoFiles {
		if name == output.CodeFile {
			continue
		}
		file, err := parser.ParseFile(p.fset, filepath.Join(own.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("read the package: %w", err)
		}
		p.files = append(p.files, file)
	}
	if len(p.files) == 0 {
		return fmt.Errorf("there are no Go files in %s", p.dir)
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	// What is not generated yet is missing, so errors are expected. What matters is found where a type is needed.
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", p.export), Error: func(error) {}}
	p.types, _ = config.Check(p.path, p.fset, p.files, p.info)
	return nil
}

// list asks the go command for the package and what it imports.
func (p *pkg) list() error {
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,Standard,DepOnly,Error", ".")
	cmd.Dir = p.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list the package in %s: %w: %s", p.dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listedPackage
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("list the package in %s: %w", p.dir, err)
		}
		p.listed[l.ImportPath] = l
		if !l.DepOnly {
			p.path = l.ImportPath
		}
	}
	if l := p.listed[p.path]; len(l.GoFiles) == 0 {
		why := "it has no Go files"
		if l.Error != nil {
			why = l.Error.Err
		}
		return fmt.Errorf("read the package in %s: %s", p.dir, why)
	}
	return nil
}

// export opens what the compiler exported of a package.
func (p *pkg) export(path string) (io.ReadCloser, error) {
	l, ok := p.listed[path]
	if !ok || l.Export == "" {
		return nil, fmt.Errorf("package %s does not build", path)
	}
	return os.Open(l.Export)
}

func (p *pkg) at(pos token.Pos) string {
	at := p.fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// doc is what comments say of a type.
type doc struct {
	text       string
	directives []declare.Directive
	fields     map[string]string              // their descriptions
	said       map[string][]declare.Directive // of fields
	pos        token.Pos
}

// directives are those among some comments.
func directives(groups ...*ast.CommentGroup) (list []declare.Directive) {
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			if d, ok := declare.DirectiveOf(strings.TrimPrefix(c.Text, "//")); ok {
				list = append(list, d)
			}
		}
	}
	return list
}

// docOf is what comments say of a type, of this package or of one that it imports.
func (p *pkg) docOf(t *types.TypeName) doc {
	if t.Pkg() == nil {
		return doc{}
	}
	path := t.Pkg().Path()
	if p.docs[path] == nil {
		p.docs[path] = p.readDocs(path)
	}
	return p.docs[path][t.Name()]
}

func (p *pkg) readDocs(path string) map[string]doc {
	docs := map[string]doc{}
	files := p.files
	if path != p.path {
		files = nil
		l := p.listed[path]
		for _, name := range l.GoFiles {
			// One that cannot be read has no comments that matter: the compiler has read it.
			if file, err := parser.ParseFile(p.fset, filepath.Join(l.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
				files = append(files, file)
			}
		}
	}
	for _, file := range files {
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, spec := range g.Specs {
					s := spec.(*ast.TypeSpec)
					docs[s.Name.Name] = docOfSpec(g, s)
				}
			}
		}
	}
	return docs
}

func docOfSpec(g *ast.GenDecl, s *ast.TypeSpec) doc {
	comment := s.Doc
	if comment == nil && len(g.Specs) == 1 {
		comment = g.Doc
	}
	d := doc{text: comment.Text(), directives: directives(comment), fields: map[string]string{}, said: map[string][]declare.Directive{}, pos: s.Pos()}
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		return d
	}
	for _, field := range st.Fields.List {
		text := field.Doc.Text()
		if text == "" {
			text = field.Comment.Text()
		}
		for _, name := range field.Names {
			d.fields[name.Name] = declare.OfField(text, name.Name)
			d.said[name.Name] = directives(field.Doc)
		}
	}
	return d
}
