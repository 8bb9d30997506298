package answer

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/chain"
	"covey/internal/clip"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/test/runs"
)

// table is rows in units over five decades, up to 20 deviations away from zero, two of which go
// together at every site, behind one column that is the same in all rows.
type table struct {
	units, means []float64
	sites        []*clip.Matrix
	counts       []int
}

const (
	tableColumns = 6
	constantOne  = 5 // column
)

func newTable(t *testing.T, perSite int, people bool) table {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 5))
	var out table
	for j := range tableColumns {
		out.units = append(out.units, math.Pow(10, float64(j)-2))
		out.means = append(out.means, rng.Float64()*40-20)
	}
	for range 3 {
		var values []float64
		var unit []int
		for i := range perSite {
			shared := rng.NormFloat64()
			rows := 1
			if people {
				rows += i % 3
			}
			for range rows {
				for j := range tableColumns {
					z := rng.NormFloat64()
					switch j {
					case 0, 1:
						z = 0.9*shared + math.Sqrt(1-0.81)*z
					case constantOne:
						z = 0
					}
					values = append(values, out.units[j]*(out.means[j]+z))
				}
				unit = append(unit, i)
			}
		}
		m, err := clip.NewMatrix(tableColumns, values)
		if people {
			m, err = clip.NewUnits(tableColumns, values, unit)
		}
		if err != nil {
			t.Fatal(err)
		}
		out.sites, out.counts = append(out.sites, m), append(out.counts, perSite)
	}
	return out
}

func standardSpec(change func(*proposal.Spec)) proposal.Spec {
	spec := proposal.Spec{Name: "any units", Dataset: "rows", Epsilon: 2, Delta: 1e-6, Standardize: proposal.StandardizePrivate, Components: 1}
	for j := range tableColumns {
		spec.Columns = append(spec.Columns, proposal.Column{Name: fmt.Sprint("c", j)})
	}
	change(&spec)
	return spec
}

// follow runs a study to its end, with noise as in a real one, drawn from the plan's digest, and
// checks each ask and each release as an agent does.
func follow(t *testing.T, spec proposal.Spec, data table) (*study.Plan, *result.Result) {
	t.Helper()
	signer := ed25519.NewKeyFromSeed(make([]byte, 32))
	var roster []proposal.Member
	var keys []ed25519.PrivateKey
	for i, n := range data.counts {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1)))
		keys = append(keys, key)
		roster = append(roster, proposal.Member{Name: fmt.Sprint("site-", i), Identity: proposal.Key(key.Public().(ed25519.PublicKey)), Units: n})
	}
	body, err := proposal.Propose(spec, roster, signer.Public().(ed25519.PublicKey), [32]byte{4})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	var sites []*Rows
	for _, m := range data.sites {
		sites = append(sites, New(m))
	}
	source := func(who int) io.Reader {
		return noise.NewKeyed(sha256.Sum256(append(p.Digest[:], byte(who))))
	}
	sources := []io.Reader{source(0), source(1), source(2), source(3)}
	draw := func(sum []int64, s noise.Sigma, from io.Reader) {
		draws := make([]int64, len(sum))
		if err := s.Draw(from, draws); err != nil {
			t.Fatal(err)
		}
		for i, v := range draws {
			sum[i] += v
		}
	}
	c := p.Start()
	var releases []study.Release
	var signed []result.SignedRelease
	for c.Query < len(p.Queries) && c.End == "" {
		a, err := p.NewAsk(c, len(releases))
		if err == nil {
			err = p.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]int64, p.Queries[a.Query].Values)
		for i, rows := range sites {
			part, err := rows.Answer(p, i, a, 1)
			if err != nil {
				t.Fatal(err)
			}
			if p.Honest > 0 {
				share, err := p.Noise.Share(a.Sigma)
				if err != nil {
					t.Fatal(err)
				}
				draw(part, share[0].Sigma, sources[1+i]) // all that stays where nobody drops out
			}
			for j, v := range part {
				sum[j] += v
			}
		}
		if p.Honest == 0 {
			draw(sum, a.Sigma, sources[0])
		}
		r, err := p.NewRelease(a, []int{0, 1, 2}, sum)
		if err == nil {
			err = p.CheckRelease(r)
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
		encoded, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		signed = append(signed, result.SignedRelease{Encoded: encoded, Signature: ed25519.Sign(signer, study.SigningInput(encoded))})
	}
	if c.End != "" {
		t.Fatalf("the study ended: %s", c.End)
	}
	var approvals []result.Blob
	for _, key := range keys {
		approvals = append(approvals, study.SignDecision(key, p.Digest, study.VerdictApproved, ""))
	}
	confirmations, certificates := runs.Attest(t, p, keys, releases)
	r, err := result.Sign(p, body, signed, result.Evidence{Approvals: approvals, Transcript: runs.Transcript,
		Confirmations: result.Blobs(confirmations), Certificates: result.Blobs(certificates),
		ChainHead: chain.Head{Number: 1000}}, signer)
	if err != nil {
		t.Fatal(err)
	}
	r.Releases = releases
	return p, r
}

// TestStandardizedStudy: a study that gives no constants finds them, and the first component of the
// columns' correlations, whatever the columns' units, by every method, with both kinds of noise, of
// units of one row and of several. The column that has one value is left out and named. Everything
// that is drawn is seeded.
func TestStandardizedStudy(t *testing.T) {
	const perSite = 3000
	one, several := newTable(t, perSite, false), newTable(t, perSite, true)
	for name, change := range map[string]func(*proposal.Spec){
		"auto": func(s *proposal.Spec) {},
		"covariance": func(s *proposal.Spec) {
			s.Method, s.Noise, s.CentralDetail = proposal.MethodCovariance, proposal.NoiseCentral, true
		},
		"power":      func(s *proposal.Spec) { s.Method = proposal.MethodPower },
		"central":    func(s *proposal.Spec) { s.Method, s.CentralDetail = proposal.MethodPower, true },
		"plain rows": func(s *proposal.Spec) { s.Method, s.Rows = proposal.MethodPower, proposal.RowsPlain },
		"sphere":     func(s *proposal.Spec) { s.Method, s.Rows = proposal.MethodPower, proposal.RowsSphere },
		"deflation": func(s *proposal.Spec) {
			s.Method, s.Subspace, s.Components = proposal.MethodPower, proposal.SubspaceDeflation, 2
		},
		"block":       func(s *proposal.Spec) { s.Method, s.Components = proposal.MethodPower, 2 },
		"people":      func(s *proposal.Spec) { s.Unit = "who" },
		"drop-row":    func(s *proposal.Spec) { s.Missing = proposal.MissingDropRow },
		"zcdp":        func(s *proposal.Spec) { s.Accountant = proposal.AccountantZCDP },
		"two sites":   func(s *proposal.Spec) { s.SitesPerUnit, s.Epsilon = 2, 4 },
		"public norm": func(s *proposal.Spec) { s.Method, s.NormBound = proposal.MethodCovariance, "3" },
	} {
		t.Run(name, func(t *testing.T) {
			spec := standardSpec(change)
			data := one
			if spec.Unit != "" {
				data = several
			}
			p, r := follow(t, spec, data)
			if central := spec.CentralDetail; (p.Honest == 0) != central {
				t.Errorf("noise is %q", r.Noise)
			}
			for j, unit := range data.units {
				if j == constantOne {
					continue
				}
				center, scale := r.Mean[j]*r.Scale[j], r.Scale[j]
				if off := math.Abs(center-data.means[j]*unit) / unit; off > 0.1 {
					t.Errorf("column %d: the mean is %.3g deviations off", j, off)
				}
				if ratio := scale / unit; ratio < 0.8 || ratio > 1.25 {
					t.Errorf("column %d: the scale is %.3g times the deviation", j, ratio)
				}
			}
			if len(r.LeftOut) != 1 || r.LeftOut[0].Column != "c5" || !strings.Contains(r.LearnedText(), `"c5"`) {
				t.Errorf("left out are %v: %s", r.LeftOut, r.LearnedText())
			}
			v := r.Components[0]
			if along := math.Abs(v[0]+v[1]) / math.Sqrt2; along < 0.97 {
				t.Errorf("the first component %.3f is %.3f along that of the correlations", v, along)
			}
			for i, v := range r.Components {
				if v[constantOne] != 0 {
					t.Errorf("component %d has %v of the column that is left out", i, v[constantOne])
				}
			}
			sum := 0.0
			for _, q := range p.Queries {
				if q.Kind == study.KindOctaves || q.Kind == study.KindTree || q.Kind == study.KindMoments {
					sum += q.Rho / p.Rho
				}
			}
			if share := p.Shares().Standardize; !(sum > 0) || math.Abs(sum/share-1) > 0.01 {
				t.Errorf("constants cost %.4f of the budget, the plan says %.4f", sum, share)
			}
		})
	}
}
