package coordinator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// goSource is this package without its tests.
type goSource struct {
	set   *token.FileSet
	funcs []*ast.FuncDecl
}

func readGoSource(t *testing.T) goSource {
	s := goSource{token.NewFileSet(), nil}
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name.Name(), ".go") || strings.HasSuffix(name.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(s.set, name.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				s.funcs = append(s.funcs, f)
			}
		}
	}
	return s
}

// receiverOf returns the type and the name of a method's receiver.
func receiverOf(f *ast.FuncDecl) (of, name string) {
	if f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
		return "", ""
	}
	return typeNameOf(f.Recv.List[0].Type), f.Recv.List[0].Names[0].Name
}

// typeNameOf returns the name of a type of this package, or of a pointer to one.
func typeNameOf(e ast.Expr) string {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// calleeOf returns the name of the method or function that a call is of.
func calleeOf(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// TestStateIsTakenFromLock: the state is reached only through what lock returned, and past the
// machine's field by nobody else.
func TestStateIsTakenFromLock(t *testing.T) {
	s := readGoSource(t)
	looked := 0
	for _, f := range s.funcs {
		of, name := receiverOf(f)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			use, ok := n.(*ast.SelectorExpr)
			if !ok || use.Sel.Name != "state" {
				return true
			}
			id, own := use.X.(*ast.Ident)
			through, past := use.X.(*ast.SelectorExpr)
			if own && of == "Machine" && id.Name == name || past && through.Sel.Name == "machine" {
				if looked++; of != "Machine" || f.Name.Name != "lock" {
					t.Errorf("%s: the state is not taken from lock", s.set.Position(use.Pos()))
				}
			}
			return true
		})
	}
	if looked != 1 {
		t.Errorf("%d uses of the machine's state were seen, want lock's", looked)
	}
}

// TestLeaderWaitsForNothing: who has the lock calls nothing that waits for the lock, or for the log
// that needs it; and what goes on without the lock uses none of what it guards.
func TestLeaderWaitsForNothing(t *testing.T) {
	waits := []string{"lock", "apply", "inTerm", "event", "Leading", "Lock", "Wait", "Sleep"}
	aside := []string{"background", "after", "AfterFunc", "Go", "SendLater"}
	s := readGoSource(t)
	locked := 0
	// held walks what runs under the lock; guarded are the names of what it guards there.
	var held, free func(n ast.Node, guarded []string)
	held = func(n ast.Node, guarded []string) {
		ast.Inspect(n, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if slices.Contains(waits, calleeOf(c)) {
				t.Errorf("%s: %s is called with the lock held", s.set.Position(c.Pos()), calleeOf(c))
			}
			if !slices.Contains(aside, calleeOf(c)) {
				return true
			}
			for _, a := range c.Args {
				if later, ok := a.(*ast.FuncLit); ok {
					free(later.Body, guarded)
				} else {
					held(a, guarded)
				}
			}
			return false
		})
	}
	// free walks what runs without it.
	free = func(n ast.Node, guarded []string) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if slices.Contains(guarded, n.Name) {
					t.Errorf("%s: %s is used without the lock", s.set.Position(n.Pos()), n.Name)
				}
			case *ast.CallExpr:
				if calleeOf(n) == "inTerm" {
					locked++
					for _, a := range n.Args {
						if do, ok := a.(*ast.FuncLit); ok {
							held(do.Body, guarded)
						}
					}
					return false
				}
			}
			return true
		})
	}
	for _, f := range s.funcs {
		switch of, name := receiverOf(f); of {
		case "leader", "replicated", "session", "tally":
			locked++
			guarded := []string{name}
			for _, p := range f.Type.Params.List {
				if of := typeNameOf(p.Type); of == "session" || of == "leader" {
					guarded = append(guarded, p.Names[0].Name)
				}
			}
			held(f.Body, guarded)
		default:
			at := token.NoPos // of the lock that is held to the end
			for _, line := range f.Body.List {
				if d, ok := line.(*ast.DeferStmt); ok && calleeOf(d.Call) == "unlock" {
					at = line.Pos()
				} else if at != token.NoPos {
					held(line, []string{"m"})
				}
			}
			if at != token.NoPos {
				locked++
			} else {
				free(f.Body, nil)
			}
		}
	}
	if locked < 80 {
		t.Errorf("only %d functions with the lock were looked at", locked)
	}
}
