package strict

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

type document struct {
	Name    string   `toml:"name"`
	Sites   []string `toml:"sites"`
	Epsilon float64  `toml:"epsilon,omitempty"`
	Rounds  int      `toml:"rounds"`
	Columns []struct {
		Name  string  `toml:"name"`
		Scale float64 `toml:"scale"`
	} `toml:"columns"`
	Budget *struct {
		Delta float64 `toml:"delta"`
	} `toml:"budget"`
	Peers map[string]string `toml:"peers"`
	Wait  struct {
		Round wait `toml:"round"`
	} `toml:"wait"`
	Hide bool `toml:"-"`
}

// wait reads itself.
type wait time.Duration

func (w *wait) UnmarshalText([]byte) error { return errors.New("must be a duration") }

// TestDecode: every fault names its line and key in words.
func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		"epsilom = 1":               `epsilom: unknown key, line 1; did you mean "epsilon"?`,
		"name = 'a'\nzzz = 1":       `zzz: unknown key, line 2`,
		"hide = true":               `hide: unknown key, line 1`,
		"[[columns]]\n\nsclae = 1":  `columns.sclae: unknown key, line 3; did you mean "scale"?`,
		"budget = { detla = 1 }":    `budget.detla: unknown key, line 1; did you mean "delta"?`,
		"[bugdet]\ndelta = 1":       `bugdet: unknown key, line 1; did you mean "budget"?`,
		"\nepsilon = 'one'":         `line 2 column N: epsilon must be a number, got text in quotes`,
		"epsilon = [1]":             `line 1 column N: epsilon must be a number, got a list`,
		"rounds = 1.5":              `line 1 column N: rounds must be a whole number, got a number`,
		"name = 7":                  `line 1 column N: name must be text in quotes, got a whole number`,
		"sites = 'a'":               `line 1 column N: sites must be a list, got text in quotes`,
		"sites = [\n 'a',\n 7]":     `line 3 column N: sites[1] must be text in quotes, got a whole number`,
		"budget = 3":                `line 1 column N: budget must be a table, got a whole number`,
		"budget = { delta = '1%' }": `line 1 column N: budget.delta must be a number, got text in quotes`,
		"columns = 1":               `line 1 column N: columns must be a list of tables, got a whole number`,
		"[peers]\nsouth = 1":        `line 2 column N: peers.south must be text in quotes, got a whole number`,
		"[[columns]]\nname='a'\n[[columns]]\nname='b'\nscale='c'": `line 5 column N: columns[1].scale must be a number, got text in quotes`,
		"not TOML":                                               `line 1 column N: is not TOML: `,
		"\xff\xfen\x00":                                          `line 1 column N: is not TOML: the file is UTF-16: save it as UTF-8`,
		"rounds = 1\nname = 'Stra\xdfe'":                         `line 2 column N: is not TOML: the file is not UTF-8: save it as UTF-8`,
		"rounds = 1 # Stra\xdfe":                                 `line 1 column N: is not TOML: the file is not UTF-8: save it as UTF-8`,
		"name = “a”":                                             `line 1 column N: is not TOML: '“' is no quotation mark here: write "`,
		"name =\u00a0'a'":                                        `line 1 column N: is not TOML: unexpected character '\u00a0'`,
		"name = \"C:\\Users\\anna\"":                             `line 1 column N: is not TOML: invalid hexadecimal digit in unicode escape sequence; in double quotes a backslash begins one`,
		"epsilon = 1\nname = 'a":                                 `line 2 column `,
		"epsilon = 1\nepsilon = 2":                               `line 2 column N: key epsilon is already defined`,
		"[budget]\ndelta = 1\n[budget]\ndelta = 2":               `line 3 column N: a second table budget: put these lines below the header of the first`,
		"rounds = 99999999999999999999":                          `line 1`,
		"epsilon = 1\nEpsilon = 2":                               `Epsilon: is also written "epsilon", line 2: write both in lower case`,
		"[Budget]\ndelta = 1\n[budget]\ndelta = 1":               `budget: is also written "Budget", line 3`,
		"[[columns]]\nname='a'\nscale=1\n[[columns]]\nScale=2\n": `columns.Scale: is also written "columns.scale", line 5`,
		"columns = [{name = 'a', Name = 'b'}]":                   `columns.Name: is also written`,
		"[wait]\nround = '5 min'":                                `line 2 column N: wait.round: must be a duration`,
	} {
		var d document
		err := Decode([]byte(text), &d)
		if err == nil || !strings.HasPrefix(regexp.MustCompile(`column \d+`).ReplaceAllString(err.Error(), "column N"), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if e, ok := err.(*Error); !ok || strings.Contains(e.Reason, "toml:") {
			t.Errorf("%q: %#v", text, err)
		}
	}
	var d document
	if err := Decode([]byte("name = 'a'\nepsilon = 1\n[[columns]]\nname = 'x'\n"), &d); err != nil || d.Name != "a" || d.Epsilon != 1 || len(d.Columns) != 1 {
		t.Errorf("%v, %v", d, err)
	}
	if err := Decode([]byte("Name = 'a'\n[peers]\nsouth = 'x'\nSouth = 'y'\n"), &d); err != nil || len(d.Peers) != 2 {
		t.Errorf("keys of a map, and one key in capitals: %v, %v", d, err)
	}
}

// TestLine finds a key's line, or that of what holds it.
func TestLine(t *testing.T) {
	text := []byte("name = 'a'\nsites = ['b',\n'c']\n[[columns]]\nname = 'x'\n\n[[columns]]\nname = 'y'\nscale = 2\n[policy]\npeers = { south = 'k' }\n[policy.dataset.icu]\nmax = 1\n")
	for key, want := range map[string]int{
		"name": 1, "sites": 2, "sites[1]": 3, "columns": 0, "columns[0]": 4, "columns[0].scale": 4, "columns[1].name": 8, "columns[1].scale": 9,
		"policy": 10, "policy.peers.south": 11, "policy.dataset.icu.max": 13, "absent": 0, "na": 0, "": 0,
	} {
		if got := Line(text, key); got != want {
			t.Errorf("%s is in line %d, want %d", key, got, want)
		}
	}
	if got := Line([]byte("not TOML"), "not"); got != 0 {
		t.Errorf("line %d of no TOML", got)
	}
}

// TestGiven: a key is there with whatever value, and a table with no entries, or of empty tables;
// a field in any case of letters, and a name in its own.
func TestGiven(t *testing.T) {
	var into struct {
		Policy struct {
			Peers      map[string]struct{ Zero int }  `toml:"peers"`
			Analysts   map[string]int                 `toml:"analysts"`
			Dictionary map[string]struct{ Scale int } `toml:"dictionary"`
		} `toml:"policy"`
	}
	given := Given([]byte("[policy]\npeers = { South = { Zero = 0 } }\n[Policy.Analysts]\n[policy.dictionary.age]\n[other.policy]\n"), &into, "policy")
	for key, want := range map[string]bool{
		"policy": true, "policy.peers": true, "policy.peers.South.zero": true, "policy.analysts": true, "policy.dictionary": true,
		"policy.peer": false, "policy.peers.South.one": false, "policy.peers.south": false, "policy.analysts.ada": false, "peers": false, "other.policy": false,
	} {
		if given[key] != want {
			t.Errorf("%s: %t", key, !want)
		}
	}
}

// TestNearest: what is as near to one name as to another was not meant.
func TestNearest(t *testing.T) {
	names := []string{"epsilon", "delta", "c", "max_epsilon", "path", "part"}
	for word, want := range map[string]string{"epsilom": "epsilon", "elta": "delta", "dleta": "delta", "x": "", "pat": "", "apple": "", strings.Repeat("c", 65): ""} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// TestLongDocument: a document of a megabyte is walked once: twice as many entries cost no more
// than about twice as many allocations, as each entry of each walk has some.
func TestLongDocument(t *testing.T) {
	fails := func(n int) error {
		var d document
		return Decode([]byte(strings.Repeat("[[columns]]\nscale = 1\n", n)+"[[columns]]\nscale = 'x'\n"), &d)
	}
	cost := func(n int) float64 { return testing.AllocsPerRun(1, func() { fails(n) }) }
	if once, twice := cost(500), cost(1000); twice > 2.5*once {
		t.Fatalf("%v allocations, and with twice the entries %v", once, twice)
	}
	if err := fails(40000); err == nil || err.Error() != "line 80002 column 9: columns[40000].scale must be a number, got text in quotes" {
		t.Error(err)
	}
}

// TestManyUnknown: a document of many unknown keys takes about as long as a known one of its
// length. The decoder itself would go through the whole document for each, a hundred times as long
// here; the bound of 20 times leaves room for a busy machine.
func TestManyUnknown(t *testing.T) {
	least := func(text string) time.Duration {
		took := time.Hour
		for range 3 {
			var d document
			begun := time.Now()
			Decode([]byte(text), &d)
			took = min(took, time.Since(begun))
		}
		return took
	}
	const many = 3000
	known, unknown := least(strings.Repeat("[[columns]]\nscale = 1\n", many)), least(strings.Repeat("[[bugdet]]\nscale = 1\n", many))
	if unknown > 20*known {
		t.Errorf("%v, and with known keys %v", unknown, known)
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{"epsilom = 1", "sites = [1, {a = 2}]", "[[columns]]\nscale = 'a'", "not TOML", "a.b = {c = [[1]]}"} {
		f.Add([]byte(text), "columns[0].scale")
	}
	f.Fuzz(func(t *testing.T, text []byte, key string) {
		var d document
		err := Decode(text, &d)
		if _, ok := err.(*Error); err != nil && !ok {
			t.Errorf("%#v", err)
		}
		if slow := DecodeSpelled(text, &document{}); (err == nil) != (slow == nil) && !strings.Contains(err.Error(), "is also written") {
			t.Errorf("%v, and as the decoder itself looks for unknown keys: %v", err, slow)
		} else if slow != nil && err.Error() != slow.Error() {
			t.Errorf("%q, and as the decoder itself looks for unknown keys: %q", err, slow)
		}
		if line := Line(text, key); line < 0 || line > 1+strings.Count(string(text), "\n") {
			t.Errorf("line %d", line)
		}
	})
}
