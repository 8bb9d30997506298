package terms

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// altered returns another value of a field's type.
func altered(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Bool:
		out.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		out.SetInt(v.Int() + 7)
	case reflect.Float64:
		out.SetFloat(v.Float() + 0.25)
	case reflect.String:
		out.SetString(v.String() + "2")
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1))
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			out.Field(i).Set(altered(v.Field(i)))
		}
	}
	return out
}

// TestChangesMissNothing: a change of any one field of a study, of a column or of the roster is
// told.
func TestChangesMissNothing(t *testing.T) {
	before := wordsPlan(t, 3, func(*proposal.Spec) {}).Proposal
	if got := Changes(before, before); len(got) != 0 {
		t.Errorf("of one and the same: %q", got)
	}
	again := before
	again.Nonce = proposal.Key(make([]byte, 32))
	if got := Changes(before, again); len(got) != 0 {
		t.Errorf("of another nonce: %q", got)
	}
	told := func(what string, change func(*proposal.Proposal)) {
		now := before
		now.Spec.Columns, now.Roster = slices.Clone(before.Spec.Columns), slices.Clone(before.Roster)
		change(&now)
		if got := Changes(before, now); len(got) == 0 {
			t.Errorf("a change of %s is not told", what)
		}
		if got := Changes(now, before); len(got) == 0 {
			t.Errorf("a change back of %s is not told", what)
		}
	}
	fields := func(what string, of reflect.Type, in func(*proposal.Proposal) reflect.Value) {
		for i := range of.NumField() {
			if name := of.Field(i).Name; name != "Defaults" { // which no proposal has
				told(what+name, func(p *proposal.Proposal) {
					f := in(p).Field(i)
					f.Set(altered(f))
				})
			}
		}
	}
	fields("Spec.", reflect.TypeFor[proposal.Spec](), func(p *proposal.Proposal) reflect.Value { return reflect.ValueOf(&p.Spec).Elem() })
	fields("Column.", reflect.TypeFor[proposal.Column](), func(p *proposal.Proposal) reflect.Value { return reflect.ValueOf(&p.Spec.Columns[1]).Elem() })
	fields("Member.", reflect.TypeFor[proposal.Member](), func(p *proposal.Proposal) reflect.Value { return reflect.ValueOf(&p.Roster[1]).Elem() })
	told("a reader", func(p *proposal.Proposal) { p.Readers = []proposal.Party{{Name: "ada"}} })
	told("the proposer", func(p *proposal.Proposal) { p.Proposer = &proposal.Party{Name: "ada"} })
	ada := before
	ada.Proposer, ada.Readers = &proposal.Party{Name: "ada"}, []proposal.Party{{Name: "bob"}}
	for what, change := range map[string]func(*proposal.Party){
		"key": func(p *proposal.Party) { p.Identity = proposal.Key("other") }, "name": func(p *proposal.Party) { p.Name = "eve" },
	} {
		now := ada
		now.Proposer = &proposal.Party{Name: "ada"}
		change(now.Proposer)
		if len(Changes(ada, now)) == 0 {
			t.Errorf("the proposer's %s is not told", what)
		}
		now = ada
		now.Readers = []proposal.Party{{Name: "bob"}}
		change(&now.Readers[0])
		if len(Changes(ada, now)) == 0 {
			t.Errorf("a reader's %s is not told", what)
		}
	}
	told("the graph", func(p *proposal.Proposal) { p.Graph = &proposal.Graph{} })
	told("the coordinator", func(p *proposal.Proposal) { p.Coordinator = proposal.Key(make([]byte, 32)) })
}

// TestChangesInWords: what an approver reads, and no text of the proposer's unquoted, nor without
// end.
func TestChangesInWords(t *testing.T) {
	before := wordsPlan(t, 3, func(*proposal.Spec) {}).Proposal
	now := wordsPlan(t, 3, func(s *proposal.Spec) {
		s.Epsilon, s.Columns[1].Offset = 4, 3
		s.About.Purpose = "approved by your data protection officer"
	}).Proposal
	now.Spec.Columns[0].Name = "new\u202e" // which no proposal that was read has
	now.Roster[2].Identity = now.Roster[1].Identity
	got := strings.Join(Changes(before, now), "\n")
	for _, line := range []string{"epsilon = 4 (was 2)", "the proposer's description for people changed", `column "new\u202e" is new`, `column "a" is no longer in it`,
		`column "b": offset 3 (was 0)`, `site "site-2": A DIFFERENT KEY`} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	if strings.Contains(got, "officer") {
		t.Errorf("the proposer's words are repeated:\n%s", got)
	}
	now.Spec.Columns = nil
	for range 1000 {
		now.Spec.Columns = append(now.Spec.Columns, proposal.Column{Name: strings.Repeat("x", len(now.Spec.Columns)+1)})
	}
	// However many columns changed, and sites, neither hides the other.
	lines := Changes(before, now)
	if len(lines) != 1+maxChanges+1 || lines[0] != `site "site-2": A DIFFERENT KEY` || !strings.Contains(lines[1+maxChanges], "more") {
		t.Errorf("%d lines, the first %q, the last %q", len(lines), lines[0], lines[len(lines)-1])
	}
	for i := range 1000 {
		now.Roster = append(now.Roster, proposal.Member{Name: fmt.Sprint("made-up-", i)})
	}
	if lines := Changes(before, now); len(lines) != 2*(maxChanges+1) || !slices.Contains(lines, "epsilon = 4 (was 2)") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

// TestChangedConstants: constants that are learned now, or were, are no numbers that were changed.
func TestChangedConstants(t *testing.T) {
	given := proposal.Column{Name: "b", Offset: 170, Scale: 12}
	learned := proposal.Column{Name: "b", Scale: 1, Standardize: proposal.StandardizePrivate}
	levels := proposal.Column{Name: "b", Scale: 1, Levels: []string{"x", "y"}}
	for _, c := range []struct {
		was, now proposal.Column
		want     string
	}{
		{given, learned, "offset and scale are learned (were 170 and 12)"},
		{learned, given, "offset 170 and scale 12 (were learned)"},
		{given, proposal.Column{Name: "b", Scale: 12}, "offset 0 (was 170)"},
		{given, levels, "the levels changed: 2 (was 0)"},
		{learned, learned, ""},
	} {
		if got := strings.Join(columnChanges(c.was, c.now), "; "); got != c.want {
			t.Errorf("%+v, then %+v: %q, want %q", c.was, c.now, got, c.want)
		}
	}
}
