package doctor

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/dataset"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/test/texts"
)

// TestSlowestIsTimed: of all kinds of queries the one that takes longest is reported, wherever in
// the plan it is, by the bubble's clock.
func TestSlowestIsTimed(t *testing.T) {
	body, err := texts.Propose(texts.With(texts.Minimal, `method = "covariance"`), 1000, 1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[study.Kind]bool{}
	for _, q := range p.Queries {
		kinds[q.Kind] = true
	}
	if len(kinds) < 2 {
		t.Fatalf("one kind of query: %v", kinds)
	}
	for want := range kinds {
		synctest.Test(t, func(t *testing.T) {
			q, took, err := slowest(p, func(ask study.Ask) error {
				time.Sleep(time.Second)
				if ask.Kind == want {
					time.Sleep(time.Second)
				}
				return nil
			})
			if err != nil || q.Kind != want || took != 2*time.Second {
				t.Errorf("the slowest is %s with %v, %v; want %s", q.Kind, took, err, want)
			}
		})
	}
}

// TestMemoryIsPredicted: rows count as the study reads them, mapped ones apart, and there is a
// warning if less is free than is needed.
func TestMemoryIsPredicted(t *testing.T) {
	body, err := texts.Propose(texts.Minimal, 1000, 1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	rows := &dataset.Rows{Rows: 10_000_000, Units: 10_000_000, D: p.D}
	wide := peakOf(p, siteconfig.Dataset{}, rows)
	if want := int64(rows.Rows) * int64(p.D) * 8; wide.rows != want || !wide.mapped {
		t.Errorf("rows of %d bytes are %+v", want, wide)
	}
	if n := peakOf(p, siteconfig.Dataset{Precision: "float32", Cache: siteconfig.CacheMemory}, rows); n.rows != wide.rows/2 || n.mapped || n.rest <= wide.rest {
		t.Errorf("in memory, float32: %+v, mapped %+v", n, wide)
	}
	if n := peakOf(p, siteconfig.Dataset{}, &dataset.Rows{Rows: 1000, Units: 1000, D: p.D}); n.mapped {
		t.Errorf("few rows are mapped: %+v", n)
	}
	for path, paged := range map[string]bool{"a.parquet": true, "a.csv": false} {
		if n := peakOf(p, siteconfig.Dataset{Path: path}, rows); n.paged != paged {
			t.Errorf("%s: %+v", path, n)
		}
	}
	worker := func(unit string) int64 {
		one, two := siteconfig.Dataset{Unit: unit, Workers: 1}, siteconfig.Dataset{Unit: unit, Workers: 2}
		return peakOf(p, two, rows).rest - peakOf(p, one, rows).rest
	}
	most := 0
	for _, q := range p.Queries {
		most = max(most, q.Lanes)
	}
	if got := worker("patient") - worker(""); got != 8*int64(most) {
		t.Errorf("a worker takes %d bytes more for units of several rows, a unit's sum %d", got, 8*most)
	}
	// of many rounds of many directions the result takes more than any answer
	rest := func(rounds int) (rest int64, left int) {
		body, err := texts.Propose(texts.With(texts.Minimal, `method = "power"`, fmt.Sprintf("rounds = %d", rounds)), 1000, 1000, 1000)
		if err != nil {
			t.Fatal(err)
		}
		p, err := study.NewPlan(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range p.Queries {
			left += p.Left(q)
		}
		return peakOf(p, siteconfig.Dataset{}, rows).rest, left
	}
	few, numbers := rest(100)
	if many, all := rest(500); many-few != 5*8*int64(all-numbers) || all <= numbers {
		t.Errorf("%d rounds more take %d bytes, of %d numbers", 400, many-few, all-numbers)
	}
	for _, c := range []struct {
		n     need
		free  int64
		known bool
		warns string
	}{
		{need{rows: 100, mapped: true, rest: 50}, 150, true, ""},
		{need{rows: 100, mapped: true, rest: 50}, 149, true, "rows are read from disk for each query"},
		{need{rows: 100, mapped: true, rest: 50}, 49, true, "can be killed for lack of memory"},
		{need{rows: 100, mapped: false, rest: 50}, 149, true, "can be killed for lack of memory"},
		{need{rows: math.MaxInt64 / 2, mapped: false, rest: 50}, 0, false, ""},
		{need{rows: 100, rest: 50, paged: true}, 149, true, "besides a page of each column while the Parquet file is read; this machine has"},
	} {
		f := memoryOf(c.n, c.free, c.known)
		if !f.OK || f.Warning != (c.warns != "") || !strings.Contains(f.Result, c.warns) || c.warns != "" && f.Do == "" {
			t.Errorf("%+v with %d free: %+v", c.n, c.free, f)
		}
	}
}
