package people

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
)

var end = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func person(name, token string) Entry {
	return Entry{Person{Name: name, Role: Viewer, Expires: end}, Hash(token)}
}

func put(t *testing.T, r Register, e Entry) Register {
	t.Helper()
	out, err := r.Put(e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRegister: a name is there once, with its newest entry; no register changes once it is made.
func TestRegister(t *testing.T) {
	var r Register
	for _, name := range []string{"mo", "ana", "zoe"} {
		r = put(t, r, person(name, name+"'s"))
	}
	before := slices.Clone(r)
	again := put(t, r, person("mo", "new"))
	left, err := r.Remove("ana")
	if same, unknown := r.Remove("an"); err != nil || unknown == nil || len(same) != len(r) {
		t.Errorf("%v, and of nobody's name %v", err, unknown)
	}
	if !reflect.DeepEqual(r, before) {
		t.Errorf("the register changed: %v", r)
	}
	for _, c := range []struct {
		r     Register
		token string
		want  string
	}{
		{r, "mo's", "mo"}, {r, "ana's", "ana"}, {r, "zoe's", "zoe"}, {again, "mo's", ""}, {again, "new", "mo"}, {left, "ana's", ""}, {left, "zoe's", "zoe"},
		{r, "", ""}, {r, r[0].Hash, ""}, {nil, "mo's", ""},
	} {
		e, known := c.r.Holder(c.token)
		if known != (c.want != "") || e.Name != c.want {
			t.Errorf("%q is %q's, want %q", c.token, e.Name, c.want)
		}
		if named, known := c.r.Named(c.want); c.want != "" && (!known || named.Hash != Hash(c.token)) {
			t.Errorf("%q is not found by name", c.want)
		}
	}
	for _, r := range []Register{nil, r, again, left} {
		if err := r.Check(); err != nil {
			t.Errorf("%v: %v", r, err)
		}
	}
	// Who has a certificate has no token, so that none is theirs: no hash is no token's.
	with := put(t, r, Entry{Person: Person{Name: "cy", Role: Operator, Certificate: true}})
	if e, known := with.Holder(""); known {
		t.Errorf("no token is %q's", e.Name)
	}
}

// TestBadPeople: what neither the log nor a snapshot holds.
func TestBadPeople(t *testing.T) {
	good := person("ana", "t")
	count := -1
	for name, change := range map[string]func(*Entry){
		"good":                    func(*Entry) {},
		"no name":                 func(e *Entry) { e.Name = "" },
		"a name that hides":       func(e *Entry) { e.Name = "ana\n" },
		"no role":                 func(e *Entry) { e.Role = "" },
		"another role":            func(e *Entry) { e.Role = "root" },
		"a limited operator":      func(e *Entry) { e.Role, e.Studies = Operator, []proposal.Digest{{1}} },
		"a limited program":       func(e *Entry) { e.Role, e.Studies = Metrics, []proposal.Digest{{1}} },
		"too many studies":        func(e *Entry) { e.Studies = make([]proposal.Digest, MaxStudies+1) },
		"no token":                func(e *Entry) { e.Hash = "" },
		"a short hash":            func(e *Entry) { e.Hash = e.Hash[2:] },
		"a hash in upper case":    func(e *Entry) { e.Hash = strings.ToUpper(e.Hash) },
		"a hash that is no hex":   func(e *Entry) { e.Hash = "z" + e.Hash[1:] },
		"a certificate and token": func(e *Entry) { e.Certificate = true },
	} {
		count++
		e := good
		change(&e)
		before := Register{person("bo", "u")}
		r, err := before.Put(e)
		if (err != nil) != (name != "good") || err != nil && len(r) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if checked := (Register{e}).Check(); (checked == nil) != (err == nil) {
			t.Errorf("%s in a snapshot: %v", name, checked)
		}
		_, reason := errors.AsType[*Error](err)
		if _, named := errors.AsType[*pki.NameError](err); err != nil && !reason && !named {
			t.Errorf("%s: %#v", name, err)
		}
	}
	var full Register
	for i := range maxPeople {
		full = put(t, full, person(fmt.Sprintf("p%03d", i), fmt.Sprint(i)))
	}
	if r, err := full.Put(person("one-more", "t")); err == nil || len(r) != maxPeople {
		t.Errorf("%d people: %v", len(r), err)
	}
	if _, err := full.Put(person("p007", "new")); err != nil {
		t.Errorf("one that is known already: %v", err)
	}
	if err := append(slices.Clone(full), person("z", "t")).Check(); err == nil {
		t.Error("a snapshot of too many people is taken")
	}
	for _, r := range []Register{{person("b", "t"), person("a", "u")}, {person("a", "t"), person("a", "u")}} {
		if r.Check() == nil {
			t.Errorf("out of order: %v", r)
		}
	}
	t.Logf("figure: %d bad inputs: people of the page", count+4)
}

// TestSees: what each role may see.
func TestSees(t *testing.T) {
	a, b := proposal.Digest{1}, proposal.Digest{2}
	for _, c := range []struct {
		role         Role
		studies      []proposal.Digest
		seesA, seesB bool
	}{
		{Operator, nil, true, true}, {Viewer, nil, true, true}, {Viewer, []proposal.Digest{a}, true, false}, {Metrics, nil, false, false}, {"", nil, false, false}, {"root", nil, false, false},
	} {
		p := Person{Role: c.role, Studies: c.studies}
		if p.Sees(a) != c.seesA || p.Sees(b) != c.seesB {
			t.Errorf("%+v", c)
		}
	}
}

// TestTokens: a token is shown as 43 characters, and hashed under a label of its own: what a join
// file's token is known by is no hash of it, in whatever form.
func TestTokens(t *testing.T) {
	token, err := pki.NewToken()
	if err != nil {
		t.Fatal(err)
	}
	text := Text(token)
	if len(text) != 43 || len(Hash(text)) != 64 {
		t.Errorf("%d characters, a hash of %d", len(text), len(Hash(text)))
	}
	join := fmt.Sprintf("%x", token.Hash())
	for _, shown := range []string{text, string(token.Bytes())} {
		if plain := fmt.Sprintf("%x", sha256.Sum256([]byte(shown))); Hash(shown) == join || Hash(shown) == plain {
			t.Error("the hash has no label of its own")
		}
	}
}

// FuzzRegister: a register that is read is refused, or is one that Put makes and that is written as
// it was read.
func FuzzRegister(f *testing.F) {
	for _, r := range []Register{nil, {person("ana", "t")}, {person("ana", "t"), {Person: Person{Name: "bo", Role: Operator, Certificate: true, Expires: end}}}, {{Person: Person{Name: "vi", Role: Viewer, Studies: []proposal.Digest{{1}, {1}}}, Hash: Hash("v")}}} {
		raw, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r, built Register
		if json.Unmarshal(raw, &r) != nil || r.Check() != nil {
			return
		}
		for _, e := range slices.Backward(r) {
			built = put(t, built, e)
		}
		if !slices.EqualFunc(built, r, func(a, b Entry) bool { return a.Same(b) && a.Expires.Equal(b.Expires) }) {
			t.Fatalf("%v is built as %v", r, built)
		}
		once, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again Register
		if err := json.Unmarshal(once, &again); err != nil || again.Check() != nil {
			t.Fatalf("%s: %v", once, err)
		}
	})
}
