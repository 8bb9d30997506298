package ledger

import "testing"

// TestRoom: as many studies as Room says are approved one after the other, and no more: with
// charges whose sum is not exact, with and without the bridge, and beside what is there.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		zcdp, gdp, rho float64
		bridge         bool
		before         []Approval // Rho and GDP
		want           int
	}{
		{0.3, 0.3, 0.1, true, nil, 3},
		{0.3, 0.3, 0.1, false, nil, 3},
		{0.3, 0.6, 0.1, true, nil, 6},
		{0.3, 0.6, 0.1, false, nil, 3}, // the first takes the larger cap from those after it
		{0.3, 0.6, 0.1, true, []Approval{{Rho: 0.1}}, 2},
		{0.3, 0.6, 0.1, true, []Approval{{Rho: 0.1, GDP: true}}, 5},
		{1, 1, 1.0 / 7, true, nil, 7},
		{0.5, 0.5, 0.6, true, nil, 0},
		{1e9, 1e9, 1e-3, true, nil, 9},
	} {
		l := mustOpen(t, t.TempDir())
		n := byte(0)
		approve := func(rho float64, gdp bool) error {
			n++
			return l.Approve(Approval{Study: [32]byte{n}, Name: "s", Population: "people", Proposal: []byte{n}, Rho: rho, GDP: gdp, CapRho: c.zcdp, CapGDP: c.gdp, By: "operator"})
		}
		for _, a := range c.before {
			if err := approve(a.Rho, a.GDP); err != nil {
				t.Fatal(err)
			}
		}
		p := Population{Name: "people", GDP: true}
		for _, q := range l.Populations() {
			p = q
		}
		const most = 9
		if got := p.Room(c.zcdp, c.gdp, c.rho, c.bridge, most); got != c.want {
			t.Errorf("%+v: room for %d", c, got)
		}
		took := 0
		for took < most && approve(c.rho, c.bridge) == nil {
			took++
		}
		if took != c.want {
			t.Errorf("%+v: %d are approved", c, took)
		}
	}
}
