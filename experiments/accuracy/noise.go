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
// central noise, beside the factor that `coordinator study validate` states.
func noises(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 40, "studies a line")
	return func(to io.Writer) (missed int, err error) {
		w := columns(to, "sites\ton_dropout\tshares that carry σ²\tstated\tmeasured\t")
		for _, sites := range []int{4, 5, 20} {
			central, _, err := spreads(sites, proposal.NoiseCentral, proposal.DropoutWait, *times)
			if err != nil {
				return missed, err
			}
			for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
				spread, plan, err := spreads(sites, proposal.NoiseDistributed, dropout, *times)
				if err != nil {
					return missed, err
				}
				measured := spread / central
				mark := ""
				// A false alarm has probability below 10^-6 at 40 studies: 30,720 draws a side.
				if math.Abs(measured/plan.NoiseFactor-1) > 0.028*math.Sqrt(40/float64(*times)) {
					missed++
					mark = " !"
				}
				fmt.Fprintf(w, "%d\t%s\t%d\t%.3f\t%.3f%s\t\n", sites, dropout, plan.Honest, plan.NoiseFactor, measured, mark)
			}
		}
		return missed, w.Flush()
	}
}

// spreads returns the root mean square of the noise of all power steps of so many studies of 64
// columns, all sites in each sum, in units of what sensitivity one and the whole budget get from
// central noise.
func spreads(sites int, mode, dropout string, times int) (float64, *study.Plan, error) {
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
			sigma, err := plan.Sigma(q, 1)
			if err != nil {
				return 0, nil, err
			}
			adders := 1
			if plan.Honest > 0 {
				if sigma, err = plan.Share(sigma); err != nil {
					return 0, nil, err
				}
				adders = sites
			}
			total := make([]int64, q.Values)
			for i := range adders {
				key := sha256.Sum256(fmt.Appendf(nil, "%x %d %d", plan.Digest, q.Index, i))
				draws := make([]int64, q.Values)
				if err := sigma.Draw(noise.NewKeyed(key), draws); err != nil {
					return 0, nil, err
				}
				for j, v := range draws {
					total[j] += v
				}
			}
			// of the part of the budget that the step has
			unit := plan.Sensitivity(q, 1) * math.Sqrt(plan.Rho/q.Rho)
			for _, v := range total {
				sum += float64(v) / unit * float64(v) / unit
				count++
			}
		}
	}
	return math.Sqrt(sum / float64(count)), plan, nil
}
