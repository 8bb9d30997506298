package run

import (
	"math"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestSources: the covariance that a source states is its rows'.
func TestSources(t *testing.T) {
	var sources []Source
	add := func(s Source, err error) {
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	for _, name := range []string{"flat4", "flatq", "pow1", "lowrank", "gap2"} {
		add(Gaussian(name, 12))
	}
	add(Student("pow1", 12, 9))
	add(Mixture("flat4", 12, 0.1, 3))
	add(Clusters(12, 4, 0.2), nil)
	add(Autoregressive(12, 0.8), nil)
	for _, name := range []string{"slow0.1", "spike3", "exp0.7", "t4-ar0.8", "clusters4-pow1", "centered4-flatq", "rare0.2-slow0.3", "short0.2-slow0.3", "zeros0.5-slow0.3"} {
		s, _, err := LawNamed(name, 12)
		if strings.HasPrefix(name, "t4") {
			s, _, err = LawNamed("ar0.8", 12) // four moments are not enough for this test
		}
		add(s, err)
	}
	for _, s := range sources {
		m, err := s.Draw(60_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		own := secondMoment(m.D, m.values)
		for i := range m.D {
			for j := range m.D {
				// six deviations of the widest law
				if d := math.Abs(own.At(i, j) - m.Sigma.At(i, j)); d > 0.05*m.Top() {
					t.Errorf("%s: entry %d, %d is off by %v of %v", s.Name, i, j, d, m.Top())
				}
			}
		}
		again, err := s.Draw(60_000, 1)
		if err != nil || again.values[77] != m.values[77] {
			t.Errorf("%s: a seed does not fix its rows", s.Name)
		}
		best, err := m.Best(2)
		if err != nil || m.Captured(best) < 0.98 || m.Captured(best) > 1+1e-9 {
			t.Errorf("%s: the rows' own components capture %v", s.Name, m.Captured(best))
		}
	}
}

// TestLaws: there are enough of them, each once, and those that are held out come from every
// family.
func TestLaws(t *testing.T) {
	laws, err := Laws()
	if err != nil {
		t.Fatal(err)
	}
	seen, held := map[string]bool{}, map[string]bool{}
	for _, l := range laws {
		if seen[l.String()] {
			t.Errorf("%v is there twice", l)
		}
		seen[l.String()] = true
		if l.Held {
			held[l.Family] = true
		}
	}
	if len(laws) < 60 || len(held) != 7 {
		t.Errorf("%d laws, held out of %v", len(laws), held)
	}
	for _, name := range []string{"flatx", "t3-", "clustersX-pow1", "groups0-pow1", "groupsX-pow1", "rare2-pow1", "ar2", "slowly"} {
		if _, _, err := LawNamed(name, 8); err == nil {
			t.Errorf("%q is a law", name)
		}
	}
}

// TestStudy: every way of adding noise gives a study that finds what there is.
func TestStudy(t *testing.T) {
	source, err := Gaussian("lowrank", 10)
	if err != nil {
		t.Fatal(err)
	}
	m, err := source.Draw(20_000, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*proposal.Spec){
		"central":     func(*proposal.Spec) {},
		"distributed": func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed },
		"covariance":  func(s *proposal.Spec) { s.Method = proposal.MethodCovariance },
		"pairs":       func(s *proposal.Spec) { s.Center = proposal.CenterPairs },
		"selected Λ": func(s *proposal.Spec) {
			s.Profile, s.Lambda, s.LambdaRange, s.Rounds, s.Output = proposal.ProfilePaper, proposal.LambdaPrivate, []float64{0.25, 16}, 8, proposal.OutputPooled
		},
	} {
		spec := Spec(10, 4)
		change(&spec)
		r, err := Study{Spec: spec, Fixed: true}.On(m, 5)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := m.Captured(r.Components); got < 0.9 || got > 1+1e-9 {
			t.Errorf("%s: captured %v", name, got)
		}
		if again, err := (Study{Spec: spec, Fixed: true}).On(m, 5); err != nil || again.Components[0][0] != r.Components[0][0] {
			t.Errorf("%s: a fixed study is not the same again", name)
		}
	}
}

func TestSample(t *testing.T) {
	s := Sample{4, 0, 1, 3, 2}
	if s.Mean() != 2 || s.Quantile(0.5) != 2 || s.Quantile(0) != 0 || s.Quantile(1) != 4 || math.Abs(s.Quantile(0.9)-3.6) > 1e-12 {
		t.Fatal(s.Band())
	}
}

func TestDiamonds(t *testing.T) {
	m, err := Diamonds("diamonds", true)
	if err != nil || m.N != 53_940 || m.D != 7 {
		t.Fatalf("%+v, %v", m, err)
	}
}
