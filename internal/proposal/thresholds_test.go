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
