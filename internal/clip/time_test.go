package clip

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"testing"
)

// TestNoBranchOnWhatRowsHold: how long groups and counts of columns take must tell neither what
// rows hold nor which cells are gaps, so that these functions branch on sizes alone. The command
// experiments/timing measures it.
func TestNoBranchOnWhatRowsHold(t *testing.T) {
	for file, functions := range map[string]map[string][]string{
		"group.go": {
			"topEigenvalue": {"n > d"}, "exponent": nil, "settled": nil, "tridiagonal": {"n == 0"}, "largest": nil,
		},
		"column.go": {"has": {"c.skip[j]"}, "octaves": nil, "filled": nil, "moments": nil},
		"gap.go":    {"gap": {"m.gaps == nil"}},
	} {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			public, listed := functions[f.Name.Name]
			if !listed {
				continue
			}
			delete(functions, f.Name.Name)
			branch := func(condition ast.Expr) {
				var text bytes.Buffer
				if err := printer.Fprint(&text, set, condition); err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(public, text.String()) {
					t.Errorf("%s: %s branches on %s", set.Position(condition.Pos()), f.Name.Name, &text)
				}
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.IfStmt:
					branch(n.Cond)
				case *ast.ForStmt:
					if n.Cond != nil {
						if c, ok := n.Cond.(*ast.BinaryExpr); !ok || !isName(c.X, "i") || !isName(c.Y, "end") {
							branch(n.Cond)
						}
					}
				case *ast.SwitchStmt, *ast.SelectStmt:
					t.Errorf("%s: %s branches", set.Position(n.Pos()), f.Name.Name)
				case *ast.BinaryExpr:
					if n.Op == token.LAND || n.Op == token.LOR {
						t.Errorf("%s: %s branches", set.Position(n.Pos()), f.Name.Name)
					}
				}
				return true
			})
		}
		for name := range functions {
			t.Errorf("%s has no function %s", file, name)
		}
	}
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
