package secagg

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"sync"
	"testing"

	"covey/internal/graph"
)

// sharedSparse is one group of 70 sites, 3 of them corrupt, for all tests; none may change it.
func sharedSparse(t testing.TB) *group {
	t.Helper()
	return shared(t, "sparse", func() *group {
		cfg, keys, err := sparseConfig(70, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		return groupOf(t, cfg, keys)
	})
}

// sharedWhole returns a group in which every sum is over all n sites.
func sharedWhole(t testing.TB, n int) *group {
	t.Helper()
	return shared(t, fmt.Sprint("whole ", n), func() *group {
		cfg, keys := testConfig(n, 2)
		cfg.MinSurvivors = n
		if n > 64 {
			cfg.Corrupt = 3
			var err error
			if cfg.Sparse, err = graph.NewNumbers(n, 3, n, 0.1); err != nil {
				t.Fatal(err)
			}
		}
		return groupOf(t, cfg, keys)
	})
}

var made sync.Map // name to func() *group

// shared makes a group once.
func shared(t testing.TB, name string, make func() *group) *group {
	t.Helper()
	once, _ := made.LoadOrStore(name, sync.OnceValue(make))
	g := once.(func() *group)()
	if g == nil {
		t.Fatal("the group could not be made")
	}
	return g
}

// sparseConfig returns the configuration of n sites on the sparse graph, of which a tenth may drop
// out.
func sparseConfig(n, corrupt, slots int) (Config, []ed25519.PrivateKey, error) {
	cfg, keys := testConfig(n, slots)
	cfg.Corrupt = corrupt
	cfg.MinSurvivors = (n+corrupt)/2 + 1
	var err error
	cfg.Sparse, err = graph.NewNumbers(n, corrupt, cfg.MinSurvivors, 0.1)
	return cfg, keys, err
}

func without(n int, gone ...int) Survivors {
	var u Survivors
	for i := range n {
		if !slices.Contains(gone, i) {
			u = append(u, i)
		}
	}
	return u
}
