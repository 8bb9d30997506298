package overlay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Variant is the environment variable that chooses one of the builds that Merge put into one.
const Variant = "COVEY_TEST_VARIANT"

// Merge writes sources that are many builds in one, and the list of them for -overlay, whose path
// it returns. A function that some of the sets of edits change has the body of each beside its own;
// which one runs is told to the program by Variant: i+1 for sets[i], and none of them for anything
// else. merged reports which sets are in it: those whose texts all stand in functions' bodies and
// leave them bodies. Others, of constants, types or other files, need a build of their own,
// Write's.
func Merge(dir string, sets [][]Edit) (list string, merged []bool, err error) {
	root, err := Root()
	if err != nil {
		return "", nil, err
	}
	m := merger{root: root, sources: map[string]*source{}}
	for i, edits := range sets {
		ok, err := m.add(i+1, edits)
		if err != nil {
			return "", nil, err
		}
		merged = append(merged, ok)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	write := func(name, text string) error {
		at := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		overlay.Replace[filepath.Join(root, name)] = at
		return os.WriteFile(at, []byte(text), 0o600)
	}
	for name, s := range m.sources {
		if len(s.bodies) == 0 {
			continue
		}
		if err := write(name, s.written()); err != nil {
			return "", nil, err
		}
		chosen := fmt.Sprintf("package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar %s, _ = strconv.Atoi(os.Getenv(%q))\n", s.file.Name.Name, variable, Variant)
		if err := write(filepath.ToSlash(filepath.Join(filepath.Dir(name), variable+".go")), chosen); err != nil {
			return "", nil, err
		}
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return "", nil, err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, merged, os.WriteFile(list, raw, 0o600)
}

// variable holds the number of the set in force, in each package that is changed.
const variable = "variantOfThisRun"

type merger struct {
	root    string
	sources map[string]*source // by name from the module's root
}

// source is a file, and the further bodies that its functions get.
type source struct {
	text   string
	file   *ast.File
	bodies map[int][]body // by the offset behind a function's opening brace
}

type body struct {
	set   int
	text  string // from behind the opening brace up to the closing one
	empty bool   // the function returns nothing
}

// function is where a function's body is: the offsets behind its opening brace and of its closing
// one.
type function struct {
	begins, ends int
	empty        bool
}

// add takes up a set of edits under its number, or reports that it cannot.
func (m *merger) add(set int, edits []Edit) (bool, error) {
	type change struct {
		at       int
		old, new string
	}
	type place struct {
		s *source
		function
	}
	changes := map[place][]change{}
	for _, e := range edits {
		if !strings.HasSuffix(e[0], ".go") {
			return false, nil
		}
		s, err := m.read(e[0])
		if err != nil {
			return false, err
		}
		at := strings.Index(s.text, e[1])
		if at < 0 || strings.Count(s.text, e[1]) > 1 {
			return false, nil // only behind another edit, if at all: Write judges that
		}
		f, ok := s.around(at, at+len(e[1]))
		if !ok {
			return false, nil
		}
		changes[place{s, f}] = append(changes[place{s, f}], change{at, e[1], e[2]})
	}
	texts := map[place]string{}
	for p, list := range changes {
		slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		var text strings.Builder
		end := p.begins
		for _, c := range list {
			if c.at < end {
				return false, nil // they overlap
			}
			text.WriteString(p.s.text[end:c.at] + c.new)
			end = c.at + len(c.old)
		}
		text.WriteString(p.s.text[end:p.ends])
		if !isBody(text.String()) {
			return false, nil
		}
		texts[p] = text.String()
	}
	for p, text := range texts {
		p.s.bodies[p.begins] = append(p.s.bodies[p.begins], body{set, text, p.empty})
	}
	return true, nil
}

func (m *merger) read(name string) (*source, error) {
	if s := m.sources[name]; s != nil {
		return s, nil
	}
	raw, err := os.ReadFile(filepath.Join(m.root, name))
	if err != nil {
		return nil, err
	}
	// offsets are positions less one: the only file of its set
	file, err := parser.ParseFile(token.NewFileSet(), name, raw, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{string(raw), file, map[int][]body{}}
	m.sources[name] = s
	return s, nil
}

// around returns the outermost function with a body that has all of text[lo:hi].
func (s *source) around(lo, hi int) (f function, ok bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		var block *ast.BlockStmt
		var kind *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			block, kind = n.Body, n.Type
		case *ast.FuncLit:
			block, kind = n.Body, n.Type
		}
		if ok || block == nil {
			return !ok
		}
		f = function{int(block.Lbrace-s.file.FileStart) + 1, int(block.Rbrace - s.file.FileStart), kind.Results == nil}
		ok = f.begins <= lo && hi <= f.ends
		return !ok
	})
	return f, ok
}

// isBody reports whether text is statements of one function: that it closes no brace which it does
// not open, and has no label, which would be there twice.
func isBody(text string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+text+"}", parser.SkipObjectResolution)
	if err != nil || len(file.Decls) != 1 {
		return false
	}
	labels := false
	ast.Inspect(file, func(n ast.Node) bool {
		_, label := n.(*ast.LabeledStmt)
		labels = labels || label
		return true
	})
	return !labels
}

// written returns the file with all bodies. The one of the tree comes last, so that a function with
// results ends as it did; no other falls through to it, since those of functions with results end
// in statements that do not, and the rest return.
func (s *source) written() string {
	var out strings.Builder
	from := 0
	for _, at := range slices.Sorted(maps.Keys(s.bodies)) {
		out.WriteString(s.text[from:at])
		from = at
		for _, b := range s.bodies[at] {
			fmt.Fprintf(&out, "\nif %s == %d {%s\n", variable, b.set, b.text)
			if b.empty {
				out.WriteString("return\n")
			}
			out.WriteString("}")
		}
		out.WriteString("\n")
	}
	out.WriteString(s.text[from:])
	return out.String()
}
