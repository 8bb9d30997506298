package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"

	"covey/experiments/run"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/study"
)

// noises measures the noise of sums of whole studies with distributed noise, as a multiple of
// central noise, beside the factor that `coordinator study validate` states; and what it costs the
// answer: 1 - captured of studies with either noise, on the same rows from the same sites.
func noises(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 40, "studies a line")
	return func(to io.Writer) (missed int, err error) {
		w := columns(to, "sites\ton_dropout\tdropped\tshares that carry σ²\tstated\tmeasured\tif nothing were removed\t")
		for _, sites := range []int{5, 10, 20} {
			central, _, err := spreads(sites, 0, proposal.NoiseCentral, proposal.DropoutWait, *times)
			if err != nil {
				return missed, err
			}
			for _, c := range []struct {
				dropout string
				dropped int
			}{{proposal.DropoutWait, 0}, {proposal.DropoutContinue, 0}, {proposal.DropoutContinue, 1}} {
				spread, plan, err := spreads(sites, c.dropped, proposal.NoiseDistributed, c.dropout, *times)
				if err != nil {
					return missed, err
				}
				u := sites - c.dropped
				measured, stated := spread/central, plan.Noise.Over(u)
				mark := ""
				// A false alarm has probability below 10^-6 at 40 studies: 30,720 draws a side.
				if math.Abs(measured/stated-1) > 0.028*math.Sqrt(40/float64(*times)) {
					missed++
					mark = " !"
				}
				fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%.3f\t%.3f%s\t%.3f\t\n", sites, c.dropout, c.dropped, u-max(1, plan.Thresholds.Corrupt), stated, measured, mark, math.Sqrt(float64(u)/float64(plan.Honest)))
			}
		}
		if err := w.Flush(); err != nil {
			return missed, err
		}
		return missed, noiseErrors(to, *times)
	}
}

// noiseErrors prints 1 - captured of studies with central and with distributed noise.
func noiseErrors(to io.Writer, times int) error {
	w := columns(to, "\nflatq, d = 64\tsites\tdropped\tcentral\t± se\tdistributed\t± se\tdistributed/central\t")
	for _, c := range []struct {
		n, k   int
		method string
	}{{5000, 5, proposal.MethodCovariance}, {20_000, 1, proposal.MethodPower}} {
		source, _, err := run.LawNamed("flatq", 64)
		if err != nil {
			return err
		}
		for _, sites := range []int{5, 10, 20} {
			for dropped := range 2 {
				out, err := run.Repeat(times, func(seed uint64) ([]float64, error) {
					m, err := source.Draw(c.n, seed)
					if err != nil {
						return nil, err
					}
					var line []float64
					for _, mode := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
						spec := run.Spec(64, 1)
						spec.Noise, spec.OnDropout, spec.Method, spec.Components = mode, proposal.DropoutContinue, c.method, proposal.Components(c.k)
						r, err := run.Study{Spec: spec, Fixed: true, Sites: sites, Dropped: dropped}.On(m, seed)
						if err != nil {
							return nil, err
						}
						line = append(line, 1-m.Captured(r.Components))
					}
					return line, nil
				})
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "n = %d, k = %d, %s\t%d\t%d\t%.5f\t%.5f\t%.5f\t%.5f\t%.3f\t\n", c.n, c.k, c.method, sites, dropped,
					out[0].Mean(), standardError(out[0]), out[1].Mean(), standardError(out[1]), out[1].Mean()/out[0].Mean())
			}
		}
	}
	return w.Flush()
}

// spreads returns the root mean square of the noise of all power steps of so many studies of 64
// columns, all sites but those dropped in each sum, in units of what sensitivity one and the whole
// budget get from central noise.
func spreads(sites, dropped int, mode, dropout string, times int) (float64, *study.Plan, error) {
	spec := run.Spec(64, 1)
	spec.Noise, spec.OnDropout, spec.Method = mode, dropout, proposal.MethodPower
	public := func(i int) ed25519.PublicKey {
		return ed25519.NewKeyFromSeed(binary.BigEndian.AppendUint64(make([]byte, 24), uint64(i))).Public().(ed25519.PublicKey)
	}
	var roster []proposal.Member
	for i := range sites {
		roster = append(roster, proposal.Member{Name: fmt.Sprint("site-", i), Identity: proposal.Key(public(i)), Units: 4000})
	}
	sum, count := 0.0, 0
	var plan *study.Plan
	for seed := range times {
		body, err := proposal.Propose(spec, roster, public(sites), [32]byte{byte(seed), byte(seed >> 8)})
		if err != nil {
			return 0, nil, err
		}
		if plan, err = study.NewPlan(body); err != nil {
			return 0, nil, err
		}
		for _, q := range plan.Queries {
			if q.Kind != study.KindPower {
				continue
			}
			sigma, err := plan.Noise.Sigma(q, 1)
			if err != nil {
				return 0, nil, err
			}
			adders, parts := 1, noise.Share{{Sigma: sigma}}
			if plan.Honest > 0 {
				share, err := plan.Noise.Share(sigma)
				if err != nil {
					return 0, nil, err
				}
				adders = sites - dropped
				parts = share.Kept(adders)
			}
			total := make([]int64, q.Values)
			for i := range adders {
				for j, part := range parts {
					key := sha256.Sum256(fmt.Appendf(nil, "%x %d %d %d", plan.Digest, q.Index, i, j))
					draws := make([]int64, q.Values)
					if err := part.Sigma.Draw(noise.NewKeyed(key), draws); err != nil {
						return 0, nil, err
					}
					for k, v := range draws {
						total[k] += v
					}
				}
			}
			// of the part of the budget that the step has
			unit := plan.Noise.Sensitivity(q, 1) * math.Sqrt(plan.Rho/q.Rho)
			for _, v := range total {
				sum += float64(v) / unit * float64(v) / unit
				count++
			}
		}
	}
	return math.Sqrt(sum / float64(count)), plan, nil
}
