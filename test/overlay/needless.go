package overlay

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// testFile is what a file of tests declares, says, and has methods of.
type testFile struct {
	declares, mentions, methodsOf map[string]bool
	always                        bool // it does something by being there
}

// Needless returns the files of tests in pkg, named from the module's root, that one test does
// without: a build for that test alone is done in a third of the time. Names decide, whatever they
// stand for: a file stays if a file that stays mentions a name it declares, or declares a type it
// has methods of. Files with an init, a TestMain, an unnamed variable or a blank import all stay.
func Needless(pkg, run string) ([]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		return nil, err
	}
	test, _, _ := strings.Cut(run, "/")
	files, stays, found := map[string]testFile{}, map[string]bool{}, false
	var next []string
	for _, path := range paths {
		f, err := readTests(path)
		if err != nil {
			return nil, err
		}
		files[path] = f
		found = found || f.declares[test]
		if f.always || f.declares[test] {
			stays[path] = true
			next = append(next, path)
		}
	}
	if !found {
		return nil, fmt.Errorf("%s has no test %s", pkg, test)
	}
	for ; len(next) > 0; next = next[1:] {
		at := files[next[0]]
		for path, f := range files {
			if !stays[path] && (meet(at.mentions, f.declares) || meet(at.declares, f.methodsOf)) {
				stays[path] = true
				next = append(next, path)
			}
		}
	}
	var needless []string
	for _, path := range paths {
		if !stays[path] {
			needless = append(needless, filepath.ToSlash(filepath.Join(pkg, filepath.Base(path))))
		}
	}
	return needless, nil
}

func meet(a, b map[string]bool) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}

func readTests(path string) (testFile, error) {
	f := testFile{declares: map[string]bool{}, mentions: map[string]bool{}, methodsOf: map[string]bool{}}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return f, err
	}
	for _, spec := range file.Imports {
		f.always = f.always || spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == ".")
	}
	declare := func(name string) {
		f.declares[name] = true
		f.always = f.always || name == "init" || name == "TestMain" || name == "_"
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			declare(d.Name.Name)
			if d.Recv != nil {
				ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						f.methodsOf[id.Name] = true
					}
					return true
				})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					declare(spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						declare(name.Name)
					}
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			f.mentions[id.Name] = true
		}
		return true
	})
	return f, nil
}
