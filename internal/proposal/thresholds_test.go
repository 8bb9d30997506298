package proposal

import "testing"

// TestThresholds restates docs/protocol.md's numbers and their safety for every N.
func TestThresholds(t *testing.T) {
	want := map[int][3]int{2: {0, 2, 2}, 3: {0, 2, 3}, 4: {1, 3, 3}, 5: {1, 4, 4}, 10: {3, 7, 7}}
	for n := 2; n <= MaxComplete; n++ {
		th, err := NewThresholds(n, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := want[n]; ok && w != [3]int{th.Corrupt, th.Quorum, th.MinSurvivors} {
			t.Fatalf("N = %d: %+v, want %v", n, th, w)
		}
		if 2*th.Quorum <= n+th.Corrupt || th.MinSurvivors < th.Corrupt+2 || th.Quorum > n-th.Corrupt && n > 2 {
			t.Fatalf("N = %d: %+v", n, th)
		}
	}
	if th, err := NewThresholds(3, 2, 0); err != nil || th.MinSurvivors != 2 {
		t.Fatalf("min_survivors = 2 of 3: %+v, %v", th, err)
	}
	if _, err := NewThresholds(5, 3, 0); err == nil {
		t.Fatal("min_survivors below U_min was accepted")
	}
}

// TestChosenThresholds: with any number of sites that may be corrupt, two certificates have an
// honest site in common and a sum has the units of two honest sites; no fewer sites can be had than
// that, and no more than there are.
func TestChosenThresholds(t *testing.T) {
	for n := 2; n <= MaxComplete; n++ {
		for corrupt := -1; corrupt <= n; corrupt++ {
			th, err := NewThresholds(n, 0, corrupt)
			if corrupt != 0 && (err == nil) != (corrupt >= 1 && corrupt <= n-2) {
				t.Errorf("%d of %d sites corrupt: %v", corrupt, n, err)
			}
			if err != nil || corrupt == 0 {
				continue
			}
			least := max(th.Quorum, corrupt+2)
			if th.Corrupt != corrupt || 2*th.Quorum <= n+corrupt || 2*(th.Quorum-1) > n+corrupt || th.MinSurvivors < least || th.MinSurvivors > n {
				t.Errorf("%d of %d sites corrupt: %+v", corrupt, n, th)
			}
			for survivors := 1; survivors <= n+1; survivors++ {
				th, err := NewThresholds(n, survivors, corrupt)
				if (err == nil) != (survivors >= least && survivors <= n) || err == nil && th.MinSurvivors != survivors {
					t.Errorf("%d of %d sites corrupt, %d survive: %+v, %v", corrupt, n, survivors, th, err)
				}
			}
		}
	}
	for _, n := range []int{-1, 0, 1, MaxSites + 1} {
		if th, err := NewThresholds(n, 0, 0); err == nil {
			t.Errorf("%d sites: %+v", n, th)
		}
	}
	if _, err := NewThresholds(MaxSites, 0, 0); err != nil {
		t.Error(err)
	}
}
