package noise

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withFloats are the files that compute with floating point: the accountant, the
// check, what a share is made of, and Sigma's conversions. Every other file is the sampler's.
var withFloats = []string{"analytic.go", "check.go", "convert.go", "curve.go", "distributed.go", "paper.go", "share.go", "zcdp.go"}

// TestNoFloatInTheSampler: the sampler's files hold no floating point at all, and
// name nothing that the files with floating point declare.
func TestNoFloatInTheSampler(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, foreign := map[string]*ast.File{}, map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(withFloats, name) {
			files[name] = file
			continue
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					foreign[d.Name.Name] = name
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						foreign[spec.Name.Name] = name
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							foreign[id.Name] = name
						}
					}
				}
			}
		}
	}
	for _, name := range withFloats {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"gaussian.go", "accept.go", "bernoulli.go", "keyed.go", "select.go", "sigma.go"} {
		if files[name] == nil {
			t.Errorf("%s was not looked at", name)
		}
	}
	for name, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				lower := strings.ToLower(n.Name)
				if strings.Contains(lower, "float") || strings.Contains(lower, "complex") || n.Name == "math" {
					t.Errorf("%s uses %s", name, n.Name)
				}
				if from, ok := foreign[n.Name]; ok {
					t.Errorf("%s uses %s of %s", name, n.Name, from)
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT || n.Kind == token.IMAG {
					t.Errorf("%s holds the constant %s", name, n.Value)
				}
			case *ast.ImportSpec:
				if p := strings.Trim(n.Path.Value, `"`); p == "math" || strings.HasPrefix(p, "math/rand") || p == "math/cmplx" {
					t.Errorf("%s imports %s", name, p)
				}
			}
			return true
		})
	}
}
