package profile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRepeatedPeople: where no unit is set, the site is told of rows that a join repeats and of ids
// with many rows each. Neither zeros, nor answers to a few questions, nor rows without a value are
// taken for that, nor what few columns of rounded numbers have by chance.
func TestRepeatedPeople(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	table := func(header string, rows int, row func(i int) string) string {
		var text strings.Builder
		text.WriteString(header + "\n")
		for i := range rows {
			text.WriteString(row(i) + "\n")
		}
		return text.String()
	}
	kilos := func(i int) string { return fmt.Sprintf("%d,%.2f", 40+i%37, 60+float64(i*7919%4001)/100) }
	joined := table("age,kg", 900, func(i int) string { return kilos(i / 3 * 3) })
	for _, c := range []struct{ name, text, keys, want string }{
		{"a join", joined, "", "900 rows have only 300 different rows of values in these columns, 300 of which come several times"},
		{"a join of some", table("age,kg", 1200, func(i int) string { return kilos(i % 1000) }), "", "1200 rows have only 1000 different rows of values in these columns, 200 of which"},
		{"a join, its unit set", table("who,age,kg", 900, func(i int) string { return fmt.Sprint(i/3, ",", kilos(i/3)) }), "unit = \"who\"\n", ""},
		{"rows of their own", table("age,kg", 900, kilos), "", ""},
		{"costs, mostly zeros", table("visits,cost", 900, func(i int) string {
			if i%5 > 0 {
				return "0,0"
			}
			return kilos(i)
		}), "", ""},
		{"answers", table("q1,q2,q3", 900, func(int) string { return fmt.Sprintf("%d,%d,%d", rng.IntN(5), rng.IntN(5), rng.IntN(5)) }), "", ""},
		{"rounded numbers", table("age,sbp", 2000, func(int) string {
			return fmt.Sprintf("%.0f,%.0f", 50+16*rng.NormFloat64(), 130+18*rng.NormFloat64())
		}), "", ""},
		{"no values", table("age,kg", 900, func(i int) string {
			if i%2 > 0 {
				return []string{",61.5", "40,"}[i/2%2]
			}
			return kilos(i)
		}), "", ""},
		{"a column without values", table("age,kg,hb", 900, func(i int) string { return kilos(i) + "," }), "", ""},
		{"an id of many rows", table("patient_id,age,kg", 900, func(i int) string { return fmt.Sprint(i/30, ",", kilos(i)) }), "", "looks like an id, and unit is not set: 30 different ones in 900 rows. A person with several rows counts as several people: privacy covers one"},
		{"an id of few wards", table("ward_id,age,kg", 900, func(i int) string { return fmt.Sprint(i%12, ",", kilos(i)) }), "", ""},
	} {
		got := looks(profiled(t, c.text, c.keys, nil), AboutID)
		if (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestSameRows: the site is asked about rows that are one row, of however many others, and neither
// about fewer nor about what independent columns of few values have by chance.
func TestSameRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for name, c := range map[string]struct {
		filled int // every so many rows
		flags  bool
		want   string
	}{"a twentieth": {20, false, "about 5% of the rows have the same values in all of these columns, one of them at line 21:"}, "a fifth": {5, false, "about 20% of the rows have the same values in all of these columns, one of them at line 6:"}, "one in a hundred": {100, false, ""}, "none": {1 << 30, false, ""}, "rare flags": {1 << 30, true, ""}} {
		var text strings.Builder
		text.WriteString("age,kg,flag\n")
		for i := range 4000 {
			age, kg := 50+16*rng.NormFloat64(), 80+10*rng.NormFloat64()
			switch {
			case i%c.filled == c.filled-1:
				text.WriteString("0,0,0\n")
			case c.flags && i%10 > 0: // costs of a few
				fmt.Fprintf(&text, "0,0,%d\n", i%30/29)
			case c.flags:
				fmt.Fprintf(&text, "%.3f,0,0\n", kg)
			default:
				fmt.Fprintf(&text, "%.3f,%.3f,%d\n", age, kg, rng.IntN(2))
			}
		}
		got := looks(profiled(t, text.String(), "", nil), AboutSame)
		if (got != "") != (c.want != "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestRepeatsOfManyRows: of more different rows than are looked at, those that come again at the
// end still show, in their part.
func TestRepeatsOfManyRows(t *testing.T) {
	const different = 3 * mostSeen / 2
	var a again
	for i := range uint64(2 * different) { // each twice, the second time after all others
		a.next(0)
		a.row = rand.New(rand.NewPCG(i%different, 7)).Uint64()
	}
	a.next(0)
	several := 0
	for _, twice := range a.seen {
		if twice {
			several++
		}
	}
	all := len(a.seen) << a.left
	if a.rows != 2*different || a.left != 1 || all < different*99/100 || all > different*101/100 || several < len(a.seen) {
		t.Errorf("%d rows have about %d different ones, %d of %d come again", a.rows, all, several, len(a.seen))
	}
}

// TestRaggedRowsHaveAWay: of records with more fields than the header, or fewer, it is said what
// may have happened, and the file without that is read.
func TestRaggedRowsHaveAWay(t *testing.T) {
	for text, c := range map[string]struct{ says, mended string }{
		"age,kg\n50,80,\n60,70,\n":     {"end with a separator that the header lacks", "age,kg\n50,80\n60,70\n"},
		"age,kg,\n50,80\n60,70\n":      {"the header ends with a separator that they lack", "age,kg\n50,80\n60,70\n"},
		"age,kg\n50,80\n\"60\",70,5\n": {"a number without quotes", "age,kg\n50,80\n60,70.5\n"},
		"age,kg\n50,80\n60\n":          {"these lines are cut off", "age,kg\n50,80\n"},
	} {
		faults := profiled(t, text, "", nil).Faults
		if len(faults) != 1 || !strings.Contains(faults[0].Do, c.says) {
			t.Errorf("%q: %+v", text, faults)
		}
		if r := profiled(t, c.mended, "", nil); len(r.Faults) > 0 || r.Rows == 0 {
			t.Errorf("%q: %+v", c.mended, r)
		}
	}
	if do := ragged("a blank line"); do != "" {
		t.Error(do)
	}
}
