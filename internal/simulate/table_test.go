package simulate

import (
	"math"
	"strings"
	"testing"
)

func TestParseTable(t *testing.T) {
	got, err := ParseTable("n=20000,d=64,spectrum=slow0.2,sites=3,tails=4,gaps=0.05,per_unit=2")
	if want := (Table{N: 20000, D: 64, Spectrum: "slow0.2", Freedom: 4, Sites: 3, PerUnit: 2, Gaps: 0.05}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                                      "must be one of n, d",
		"n=100":                                 "give n and spectrum",
		"spectrum=pow1":                         "give n and spectrum",
		"n=0,spectrum=pow1":                     "n must be in 1..",
		"n=1e5,spectrum=pow1":                   "n must be in 1..",
		"n=100,spectrum=":                       "spectrum must be one of slowS",
		"n=100,spectrum=pow1,x=1":               `"x" must be one of`,
		"n=100,spectrum=pow1,d=-1":              "d must be in 1..4096",
		"n=100,spectrum=pow1,gaps=NaN":          "gaps must be in 0..0.9",
		"n=100,spectrum=pow1,sites=1":           "sites must be in 2..1000",
		"n=100,spectrum=pow1,tails=2":           "tails must be in 3..1000",
		"n=10,spectrum=pow1,sites=6,per_unit=2": "n must be at least one unit a site, 12, got 10",
	} {
		if _, err := ParseTable(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add("n=20000,d=64,spectrum=slow0.2,gaps=0.05")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ParseTable(text)
		if err != nil {
			return
		}
		if l, err := Spectrum(table.Spectrum, 8); err == nil {
			for j, v := range l {
				if !(v >= 0 && v <= 1) || j > 0 && v > l[j-1] {
					t.Fatalf("%q: %v", table.Spectrum, l)
				}
			}
		}
	})
}

// TestDraw: rows have the law's second moment, whatever their tails, and sites share them evenly.
// Seeded: 0.1 is over 5 deviations of the largest eigenvalue of 40,000 rows, t of 5 degrees of
// freedom included.
func TestDraw(t *testing.T) {
	s := spec(t, 5, "")
	for _, shape := range []string{"n=40001,spectrum=exp0.5,sites=3", "n=40001,spectrum=exp0.5,sites=3,tails=5"} {
		x := trials(t, s, shape, 1)
		for i, want := range x.Law.values {
			if got := x.Pooled.values[i]; math.Abs(got-want) > 0.1*want {
				t.Errorf("%s: eigenvalue %d is %v of the rows, %v of the law", shape, i+1, got, want)
			}
		}
		if x.Sites[0].Units() != 13334 || x.Sites[2].Units() != 13333 {
			t.Errorf("%s: sites of %d and %d units", shape, x.Sites[0].Units(), x.Sites[2].Units())
		}
	}
	for keys, shape := range map[string]string{
		"missing = \"error\"\n": "n=100,spectrum=pow1,gaps=0.1", "": "n=100,spectrum=pow1,per_unit=2", "rounds = 4\n": "n=100,spectrum=pow1,d=6",
		"rounds = 5\n": "n=90000000,spectrum=pow1", "rounds = 6\n": "n=100,spectrum=round",
	} {
		table, err := ParseTable(shape)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := table.Draw(spec(t, 5, keys), [32]byte{}); err == nil {
			t.Errorf("%s of a study with %q is drawn", shape, keys)
		}
	}
}

func TestSpectrum(t *testing.T) {
	for _, name := range []string{"slow0.05", "exp0.7", "spike3", "flat4", "flatq", "pow1", "lowrank", "gap2"} {
		for _, d := range []int{1, 2, 5, 40} {
			l, err := Spectrum(name, d)
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range l {
				if !(v > 0 && v <= 1) || j > 0 && v > l[j-1] {
					t.Errorf("%s of %d columns: %v", name, d, l)
				}
			}
		}
	}
	for _, name := range []string{"", "slow", "slow-1", "slowinf", "exp1.5", "expNaN", "pow2"} {
		if _, err := Spectrum(name, 4); err == nil {
			t.Errorf("%q is a spectrum", name)
		}
	}
}
