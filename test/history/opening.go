package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"covey/internal/noise"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// setup is a study's announcements, checked when they are needed.
type setup struct {
	announcements [][]byte // on the sparse graph their heads
	nonces        [][]byte
	verified      *secagg.Setup
	err           error
	// by site, as first sent: its boxes, and what it deposited
	boxes    map[int][][]byte
	deposits map[int][]byte
}

// dealt keeps a site's boxes.
func (c *Checker) dealt(s *run, site int, m message) {
	if a := s.masks; a != nil && a.boxes[site] == nil {
		if a.boxes == nil {
			a.boxes = map[int][][]byte{}
		}
		a.boxes[site] = m.list
	}
}

// deposited keeps what a site deposits with its confirmation.
func (c *Checker) deposited(s *run, site int, m message) {
	if a := s.masks; a != nil && a.deposits[site] == nil {
		if a.deposits == nil {
			a.deposits = map[int][]byte{}
		}
		a.deposits[site] = m.rest[0]
	}
}

// kept is what a coordinator had of the wire to open sums without some sites.
func (s *run) kept() (kept secagg.Kept) {
	a := s.masks
	if a.verified.Config().Whole() {
		return kept
	}
	for i := range s.sites {
		var tags []byte
		if a.boxes[i] != nil {
			tags = a.verified.Tags(i, a.boxes[i])
		}
		kept.Tags, kept.Deposits = append(kept.Tags, tags), append(kept.Deposits, a.deposits[i])
		kept.TagHashes = append(kept.TagHashes, a.verified.TagHashes(i, tags))
	}
	return kept
}

// prepared compares what the log keeps of a setup with what the sites sent: confirmations, and tags
// and deposits, of which it keeps hashes alone on the sparse graph.
func (c *Checker) prepared(s *run, e *round.Entry) {
	setup := s.setup()
	if setup == nil {
		c.fail(TrueSetup, s, -1, -1, "the setup is prepared with announcements that do not hold")
		return
	}
	if err := setup.CheckConfirmations(e.Confirmations); err != nil {
		c.fail(TrueSetup, s, -1, -1, "the setup is prepared: %v", err)
	}
	sent, sparse := s.kept(), s.plan.Thresholds.Sparse()
	var hashes [][]byte
	for i, deposits := range sent.Deposits {
		h := setup.DepositHash(i, deposits)
		hashes = append(hashes, h[:])
	}
	want := [4][][]byte{sent.Tags, sent.Deposits, nil, nil}
	if sparse {
		want = [4][][]byte{nil, nil, sent.TagHashes, hashes}
	}
	for k, log := range [4][][]byte{e.Tags, e.Deposits, e.TagHashes, e.DepositHashes} {
		if !sameList(log, want[k]) {
			c.fail(TrueSetup, s, -1, -1, "the log keeps other %s than the sites sent",
				[]string{"tags", "deposits", "hashes of tags", "hashes of deposits"}[k])
		}
	}
}

// announced takes a set of announcements that sites were shown or the log holds.
func (c *Checker) announced(s *run, announcements [][]byte) {
	old := s.masks
	if old == nil {
		s.masks = &setup{announcements: announcements}
		return
	}
	if !sameList(old.announcements, announcements) {
		c.fail(OneQuestion, s, -1, -1, "the setup has two sets of announcements")
	}
}

// drawn takes the nonces of the sparse graph that sites were shown or the log holds.
func (c *Checker) drawn(s *run, nonces [][]byte) {
	old := s.masks
	switch {
	case old == nil:
		c.fail(OneQuestion, s, -1, -1, "the setup has nonces before announcements")
	case old.nonces == nil:
		old.nonces = nonces
	case !sameList(old.nonces, nonces):
		c.fail(OneQuestion, s, -1, -1, "the setup has two sets of nonces")
	}
}

// setup returns the study's verified setup, nil if it is not to be had.
func (s *run) setup() *secagg.Setup {
	a := s.masks
	if a == nil {
		return nil
	}
	if a.verified == nil && a.err == nil {
		cfg := s.plan.Setup()
		if !s.plan.Thresholds.Sparse() {
			a.verified, a.err = secagg.Verify(cfg, a.announcements)
			return a.verified
		}
		var board *secagg.Board
		if board, a.err = secagg.VerifyHeads(cfg, a.announcements); a.err == nil {
			a.verified, a.err = board.Draw(a.nonces)
		}
	}
	return a.verified
}

// query returns what secagg calls a place; false if the wire does not show it.
func (s *run) query(at place) (*secagg.Setup, secagg.Query, bool) {
	ask, ok := s.asks[at]
	if !ok || at.query < 0 || at.query >= len(s.plan.Queries) {
		return nil, secagg.Query{}, false
	}
	setup := s.setup()
	if setup == nil {
		return nil, secagg.Query{}, false
	}
	return setup, s.plan.Summed(setup.Transcript(), ask), true
}

// rightSum opens a release's sum again from what was on the wire, and compares it with
// the rows, and its noise with the one that the sum determines.
func (c *Checker) rightSum(s *run, r study.Release) {
	at := place{r.Query, r.Slot}
	fail := func(format string, args ...any) { c.fail(RightSum, s, r.Query, r.Slot, format, args...) }
	ask, ok := s.asks[at]
	if !ok {
		fail("no site was asked for this slot")
		return
	}
	if err := s.plan.CheckRelease(r); err != nil {
		fail("%v", err)
		return
	}
	if !sameAsk(ask, r.Ask()) {
		fail("the release is about something else than the sites were asked")
		return
	}
	setup, q, ok := s.query(at)
	if !ok {
		fail("the wire shows no setup that holds")
		return
	}
	sum := make([]uint64, q.Lanes)
	for _, i := range r.Survivors {
		if secagg.SumPacked(sum, s.uploads[at][i], q.Bits) != nil {
			fail("the wire shows no upload of survivor %d, or one of another size", i)
			return
		}
	}
	opening, err := setup.NewOpening(q, r.Survivors, s.kept())
	if err != nil {
		fail("%v", err)
		return
	}
	if err := s.unmask(opening, at, sum); err != nil {
		fail("the sum does not open: %v", err)
		return
	}
	values := s.plan.Queries[r.Query].Values
	total, ok := c.total(s, ask, r.Survivors)
	if !ok || len(total) != values {
		fail("the truth gives no sum of the survivors")
		return
	}
	if s.plan.Honest > 0 {
		if err := s.remove(r, opening, sum); err != nil {
			fail("%v", err)
			return
		}
		c.rightShares(s, r, sum, total, q.Bits)
		return
	}
	mask := ^uint64(0) >> (64 - q.Bits)
	wrong := 0
	for k, v := range total {
		if uint64(v)&mask != sum[k] {
			wrong++
		}
	}
	if wrong > 0 {
		fail("%d of %d opened values are not the survivors' true sum", wrong, values)
		return
	}
	if s.plan.Noise.Chooses(s.plan.Queries[r.Query]) {
		// the choice follows from the sum as noise does; its law is package noise's
		c.report.Checked++
		return
	}
	draws := make([]int64, values)
	key := noise.Key(sum[values:], q.Bits, q.Context, secagg.Survivors(r.Survivors).Hash())
	if err := r.Sigma.Draw(noise.NewKeyed(key), draws); err != nil {
		fail("%v", err)
		return
	}
	for k, v := range sum[:values] {
		if lifted := int64((v+uint64(draws[k]))<<(64-q.Bits)) >> (64 - q.Bits); lifted != r.Noised[k] {
			wrong++
		}
	}
	if wrong > 0 {
		fail("%d of %d released values are not the true sum and its one noise", wrong, values)
		return
	}
	c.report.Checked++
}

// unmask opens a sum with what the wire shows: shares, and where these do not do, proofs and keys.
func (s *run) unmask(opening *secagg.Opening, at place, sum []uint64) error {
	helpers := slices.Sorted(maps.Keys(s.shares[at]))
	dropped := map[int]bool{}
	for {
		for _, i := range helpers {
			if (s.plan.Noise.Removes() || !opening.Ready()) && !dropped[i] {
				// another set's, or a faulty site's: it helps nobody
				_ = opening.Add(i, s.shares[at][i])
			}
		}
		err := opening.Unmask(sum)
		if needs, ok := errors.AsType[*secagg.KeysError](err); ok {
			for _, i := range needs.From {
				if err := opening.AddKeys(i, s.keys[at][i]); err != nil {
					return err
				}
			}
			continue
		}
		needs, ok := errors.AsType[*secagg.ProofsError](err)
		if !ok {
			return err
		}
		for _, i := range needs.Helpers {
			if !slices.ContainsFunc(s.proofs[at][i], func(p []byte) bool { return opening.AddProof(i, p) == nil }) {
				opening.Drop(i)
				dropped[i] = true
			}
		}
	}
}

// remove takes away of an opened sum what the release says was, by the keys that the wire shows.
func (s *run) remove(r study.Release, opening *secagg.Opening, sum []uint64) error {
	removable, u := r.Removable(), len(r.Survivors)
	for _, i := range r.Removed {
		key, ok := opening.Chain(i)
		if !ok {
			return fmt.Errorf("the wire shows no key of the noise of survivor %d that was taken away", i)
		}
		if err := removable.Subtract(sum, secagg.NoiseComponentKeys(key, u, removable.Levels())); err != nil {
			return err
		}
	}
	return nil
}

// rightShares checks an opened sum that holds what stayed of survivors' shares of noise: it is what
// was released, and differs from the true sum by what the shares' law could have drawn.
func (c *Checker) rightShares(s *run, r study.Release, sum []uint64, total []int64, bits uint) {
	opened := make([]int64, len(sum))
	for k, v := range sum {
		opened[k] = int64(v<<(64-bits)) >> (64 - bits)
	}
	if !slices.Equal(opened, r.Noised) {
		c.fail(RightSum, s, r.Query, r.Slot, "the released values are not the opened sum")
		return
	}
	sigma, err := noise.SigmaAtLeast(r.Spread())
	if err == nil {
		err = noise.CheckReleased(r.Noised, total, sigma)
	}
	if err != nil {
		c.fail(RightSum, s, r.Query, r.Slot, "%v", err)
		return
	}
	c.report.Checked++
}

// sums are the sites' exact contributions to a query, by roster index; nil for one
// that is not to be had.
type sums struct {
	ask    study.Ask
	vector [][]int64
	err    error
}

// contributions returns them, computed once a query, and follows them from then on.
func (c *Checker) contributions(s *run, ask study.Ask) *sums {
	if old := s.sums[ask.Query]; old != nil && slices.Equal(old.ask.X, ask.X) && slices.Equal(old.ask.Center, ask.Center) && slices.Equal(old.ask.Found, ask.Found) && slices.Equal(old.ask.Scale, ask.Scale) && slices.Equal(old.ask.Fill, ask.Fill) && slices.Equal(old.ask.Deviations, ask.Deviations) && old.ask.Radius == ask.Radius && old.ask.Grid == ask.Grid {
		return old // of another slot: the rows do not know
	}
	out := &sums{ask: ask, vector: make([][]int64, len(s.sites))}
	for i, site := range s.sites {
		if site == nil || site.Sum == nil {
			continue
		}
		v, err := site.Sum(s.plan, i, ask)
		if err != nil {
			out.err = err
			continue
		}
		out.vector[i] = v
		c.leaks.follow("site "+site.Name+"'s own sum", v, s.plan.Bits)
	}
	s.sums[ask.Query] = out
	return out
}

// total returns the true sum of a survivor set.
func (c *Checker) total(s *run, ask study.Ask, survivors []int) ([]int64, bool) {
	parts := c.contributions(s, ask)
	var out []int64
	for _, i := range survivors {
		if i < 0 || i >= len(parts.vector) || parts.vector[i] == nil || out != nil && len(out) != len(parts.vector[i]) {
			return nil, false
		}
		if out == nil {
			out = make([]int64, len(parts.vector[i]))
		}
		for k, v := range parts.vector[i] {
			out[k] += v
		}
	}
	return out, out != nil
}

// followTotal follows the exact sum of a survivor set from when it could be known.
func (c *Checker) followTotal(s *run, query int, survivors []int) {
	parts := s.sums[query]
	if parts == nil {
		return
	}
	if total, ok := c.total(s, parts.ask, survivors); ok {
		c.leaks.follow("the exact sum of a survivor set", total, s.plan.Bits)
	}
}

func encodeInts(v []int64) []byte {
	out := make([]byte, 0, 8*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint64(out, uint64(x))
	}
	return out
}
