package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"covey/internal/aggregate"
	"covey/internal/answer"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/test/parties"
)

// federation is one setup of a scene's sites: keys, and shares of everybody's secrets.
// Runs that share a setup have other contexts, and so other masks, lanes and shares of noise.
type federation struct {
	scene *scene
	plan  *study.Plan
	rows  [2][]*answer.Rows // of the two worlds, by site; they differ at site 0 alone

	*parties.Group
	certify bool // sign and check release certificates
	// what the runs are of, for what is in the transcript's place in every context: an announcement
	// is drawn anew each time, and runs of one seed are the same
	seed, batch uint64
}

// labelled makes fixed bytes of a label and numbers.
func labelled(label string, numbers ...uint64) [32]byte {
	b := []byte("covey audit " + label + "\x00")
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return sha256.Sum256(b)
}

// identity returns site i's signing key.
func identity(i int) ed25519.PrivateKey {
	seed := labelled("identity", uint64(i))
	return ed25519.NewKeyFromSeed(seed[:])
}

// newFederation runs a setup as agents do: announcements, boxes, receipts. Its secrets come from
// seed.
func newFederation(s *scene, plan *study.Plan, rows [2][]*answer.Rows, seed, batch uint64) (*federation, error) {
	cfg := plan.Setup()
	n := len(cfg.Identity)
	f := &federation{scene: s, plan: plan, rows: rows, seed: seed, batch: batch}
	var keys []ed25519.PrivateKey
	var all []secagg.Secrets
	for i := range n {
		secrets := secagg.Secrets{Transport: labelled("transport", seed, batch, uint64(i))}
		low, high := labelled("seal", seed, batch, uint64(i), 0), labelled("seal", seed, batch, uint64(i), 1)
		secrets.Seal = [64]byte(append(low[:], high[:]...))
		for slot := range cfg.Slots {
			secrets.Slots = append(secrets.Slots, labelled("slot", seed, batch, uint64(i), uint64(slot)))
		}
		keys, all = append(keys, identity(i)), append(all, secrets)
	}
	var err error
	if f.Group, err = parties.New(cfg, keys, all); err == nil {
		err = f.Hold()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// answered is one released query, with what an adversary who knows both data sets knows of it.
type answered struct {
	ask     study.Ask
	noised  []int64 // as released, less what the corrupt site added
	plain   []int64 // the sum of world 0, that of the corrupt site left out
	step    []int64 // world 1 less world 0
	sigma   float64 // standard deviation of the noise that the adversary does not know
	release study.Release
}

// study runs one study in a world and returns all its answers in order. run makes its context
// unlike any other run's.
func (f *federation) study(world int, run uint64) ([]answered, []study.Release, error) {
	course := f.plan.Start()
	var all []answered
	var releases []study.Release
	for course.Query < len(f.plan.Queries) {
		if course.End != "" {
			return nil, nil, fmt.Errorf("the study ended: %s", course.End)
		}
		ask, err := f.plan.NewAsk(course, len(releases))
		if err != nil {
			return nil, nil, err
		}
		if err := f.plan.Check(ask); err != nil {
			return nil, nil, err
		}
		a, err := f.query(world, run, ask)
		if err != nil {
			return nil, nil, err
		}
		if course, err = f.plan.Next(course, a.release, releases); err != nil {
			return nil, nil, err
		}
		all, releases = append(all, a), append(releases, a.release)
	}
	return all, releases, nil
}

// survivors are the sites in a sum: everybody, or where sites drop out all but one that is neither
// the target's nor corrupt.
func (f *federation) survivors(query int) secagg.Survivors {
	n := len(f.Keys)
	var u secagg.Survivors
	for i := range n {
		if f.scene.drops && i == 1+query%(n-2) {
			continue
		}
		u = append(u, i)
	}
	return u
}

// query asks one query of a run: every survivor's upload, the opening and the release.
func (f *federation) query(world int, run uint64, ask study.Ask) (answered, error) {
	p, a := f.plan, answered{ask: ask}
	values := p.Queries[ask.Query].Values
	q := p.Summed(labelled("transcript", f.seed, f.batch, run), ask)
	u := f.survivors(ask.Query)
	// colludes with the coordinator: it adds no noise, or what the scene says
	corrupt := u[len(u)-1]
	a.plain, a.step = make([]int64, values), make([]int64, values)
	sums := make([][]int64, len(f.Keys))
	for _, i := range u {
		var both [2][]int64
		for w := range both {
			if i > 0 && w == 1 {
				both[1] = both[0]
				continue
			}
			var err error
			if both[w], err = f.rows[w][i].Answer(p, i, ask, 1); err != nil {
				return a, err
			}
		}
		sums[i] = both[world]
		for k := range values {
			a.plain[k] += both[0][k]
			a.step[k] += both[1][k] - both[0][k]
		}
	}
	offset := make([]uint64, values)
	if f.scene.edge { // the sums of both worlds end on both sides of the ring's edge
		for k := range offset {
			offset[k] = 1<<(p.Bits-1) - uint64(a.plain[k]+a.step[k]/2)
		}
	}
	total := make([]uint64, q.Lanes)
	for _, i := range u {
		own, held := f.Secrets[i].Slots[ask.Slot], f.Held[i][ask.Slot]
		var sent []byte
		var err error
		if i == corrupt && (p.Honest > 0 || f.scene.edge) {
			sent, err = f.lies(i, ask, q, u, sums[i], offset, own, held)
		} else {
			sent, err = aggregate.Upload(p, f.Setup, i, ask, q, sums[i], own, held)
		}
		if err != nil {
			return a, err
		}
		if err := secagg.SumPacked(total, sent, q.Bits); err != nil {
			return a, err
		}
	}
	releases := make([]study.Release, 1+f.scene.resends)
	for i := range releases { // a leader that takes over opens the same uploads again
		var err error
		if releases[i], err = f.open(ask, q, u, append([]uint64(nil), total...)); err != nil {
			return a, err
		}
	}
	a.release = releases[0]
	a.noised = make([]int64, len(a.release.Noised))
	for k := range a.noised {
		for _, r := range releases {
			a.noised[k] += r.Noised[k]
		}
		a.noised[k] /= int64(len(releases)) // within a grid step of the mean
		if f.scene.edge {
			a.noised[k] -= int64(offset[k]<<(64-p.Bits)) >> (64 - p.Bits)
		}
	}
	a.sigma = ask.Sigma.Float()
	if p.Honest > 0 {
		share, err := p.Noise.Share(ask.Sigma)
		if err != nil {
			return a, err
		}
		a.sigma = math.Sqrt(share.Kept(len(u)).Variance() * float64(len(u)-1))
	}
	return a, nil
}

// lies returns the upload of a corrupt site: its vector without noise but what is taken away of it
// again, plus any integers.
func (f *federation) lies(i int, ask study.Ask, q secagg.Query, u secagg.Survivors, sum []int64, offset []uint64, own secagg.SlotSecret, held secagg.SlotHeld) ([]byte, error) {
	v := make([]uint64, len(sum))
	for k, x := range sum {
		v[k] = uint64(x) + offset[k]
	}
	if f.plan.Honest == 0 {
		v = append(v, secagg.NoiseLanes(own, q.Context, q.Bits)...)
	} else {
		removable, err := f.plan.Noise.Removable(ask.Sigma, len(u))
		if err != nil {
			return nil, err
		}
		key := secagg.NoiseChain(own, q.Context, f.plan.Thresholds.Sites, len(u))
		if err := removable.Add(v, secagg.NoiseComponentKeys(key, len(u), removable.Levels())); err != nil {
			return nil, err
		}
	}
	if err := f.Setup.Mask(i, own, held, q, v); err != nil {
		return nil, err
	}
	return secagg.Pack(v, q.Bits), nil
}

// open collects shares of a threshold of survivors, or of all where they take noise away, and
// releases the sum.
func (f *federation) open(ask study.Ask, q secagg.Query, u secagg.Survivors, total []uint64) (study.Release, error) {
	opening, err := f.Setup.NewOpening(q, u, f.Kept())
	if err != nil {
		return study.Release{}, err
	}
	for _, i := range u {
		if opening.Ready() && !q.Chain {
			break
		}
		shares, err := f.shares(i, ask, q, u)
		if err != nil {
			return study.Release{}, err
		}
		if err := opening.Add(i, shares); err != nil {
			return study.Release{}, err
		}
	}
	return aggregate.Release(f.plan, ask, u, q, total, opening, func() {})
}

// shares are site i's. Certificates are signed and checked in a setup's first study alone: what is
// opened does not depend on them, and the rest of a run takes half the time that they do.
func (f *federation) shares(i int, ask study.Ask, q secagg.Query, u secagg.Survivors) ([]byte, error) {
	if !f.certify {
		return f.Setup.CertifiedShares(i, f.Secrets[i].Slots[ask.Slot], f.Held[i][ask.Slot], q, u)
	}
	certificate := make(secagg.Certificate, len(f.Keys))
	for _, j := range u {
		var err error
		if certificate[j], err = f.Setup.SignRelease(j, f.Keys[j], q, u); err != nil {
			return nil, err
		}
	}
	return f.Setup.OpenShares(i, f.Secrets[i].Slots[ask.Slot], f.Held[i][ask.Slot], q, u, certificate)
}

// choice is the logarithm of the ratio with which the exponential mechanism chooses what was
// released, in world 1 to world 0.
func (f *federation) choice(a answered) (float64, error) {
	e, err := f.plan.SelectEpsilon(a.ask.Query)
	if err != nil {
		return 0, err
	}
	e0, _ := e.Float64()
	other := make([]int64, len(a.plain))
	for k := range other {
		other[k] = a.plain[k] + a.step[k]
	}
	at := a.release.Noised[0]
	return logShare(other, at, e0) - logShare(a.plain, at, e0), nil
}
