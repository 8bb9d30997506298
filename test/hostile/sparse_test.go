package hostile

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"covey/internal/graph"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

const sparseSites = 66

// newSparse is a study on the sparse graph: three agents, three corrupt sites, and the rest by the
// book.
func newSparse(t *testing.T) *world {
	t.Helper()
	corrupt := []int{7, 30, 64}
	book := bookOf(sparseSites)
	for i := range 3 {
		delete(book, i)
	}
	for _, i := range corrupt {
		delete(book, i)
	}
	return newWorld(t, options{sites: sparseSites, corrupt: corrupt, book: book, change: func(s *proposal.Spec) { s.Corrupt = len(corrupt) }})
}

// TestSparse attacks the release rule where the graph is drawn: 66 sites. Rules A15 to A18, L6, L8.
func TestSparse(t *testing.T) {
	if testing.Short() {
		t.Skip("70 sites: seconds of processor time")
	}
	w := newSparse(t)
	w.start()
	w.approve()
	w.announce()
	w.lookAside()
	id := w.plan.Digest
	g := w.Setup.Graph()

	// Other heads, other nonces, and a second try at the graph.
	twin := &party{name: "twin", identity: w.party[7].identity}
	other := slices.Clone(w.Announcements)
	w.must(func() (err error) {
		other[7], _, _, err = w.Config.Split(7, twin.announce(t, w.Config, 7))
		return err
	})
	nonces := slices.Clone(w.nonces)
	nonces[7] = twin.secrets.Nonce[:]
	for _, i := range w.real() {
		for name, m := range map[string]*covey.CoordinatorMessage{
			"a second board":            reveal(id, other),
			"the nonce of another head": deal(id, nil, nonces),
			"nonces in another order":   deal(id, nil, append(slices.Clone(w.nonces[1:]), w.nonces[0])),
			"one nonce missing":         deal(id, nil, w.nonces[1:]),
		} {
			if said := w.ask(i, m); len(said) != 1 || said[0].GetRefusal() == nil {
				t.Errorf("%s: site %d says %v", name, i, said)
			}
		}
	}
	// Keys to seal to that are not those of the heads: the coordinator relayed them, and nobody is
	// named. The first right ones are taken.
	for _, i := range w.real() {
		seals := w.SealsFor(i)
		swapped := slices.Clone(seals)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		for name, keys := range map[string][][]byte{"exchanged": swapped, "one missing": seals[1:], "none": nil, "one cut short": append(slices.Clone(seals[:len(seals)-1]), seals[0][:9])} {
			no := refusalTo(w.ask(i, deal(id, nil, w.nonces, keys...)))
			if no.GetCode() != covey.Code_CODE_BAD_ANNOUNCEMENT || no.GetCulprit() != 0 {
				t.Errorf("ML-KEM keys, %s: site %d says %v", name, i, no)
			}
		}
	}
	w.deal()
	for _, i := range w.real() {
		boxes, bodies := w.Received(i)
		swapped := slices.Clone(bodies)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		for name, b := range map[string][][]byte{"exchanged": swapped, "one missing": bodies[1:], "none": nil, "one altered": append([][]byte{flippedAt(bodies[0], 70)}, bodies[1:]...)} {
			no := refusalTo(w.ask(i, confirm(id, boxes, b)))
			if no.GetCode() != covey.Code_CODE_BAD_BOX || no.GetCulprit() != 0 || len(no.GetEvidence()) > 0 {
				t.Errorf("bodies, %s: site %d says %v", name, i, no)
			}
		}
	}
	for _, i := range w.real() { // the first set stays, whatever comes then
		if said := w.ask(i, deal(id, nil, nonces)); len(said) != 1 || said[0].GetRefusal() == nil {
			t.Errorf("other nonces after the graph is drawn: site %d says %v", i, said)
		}
	}
	w.confirm()

	f := field{w, 0, 0}
	w.name[0] = "the sparse graph"
	a, b := f.at(0, 1), f.at(1, 1)
	all := w.everyone()
	f.uploads(a, w.honest...)
	cut := w.cutOff(t, g)
	refused := w.view.refusals[covey.Code_CODE_TOO_FEW_SURVIVORS]
	for _, u := range cut {
		for _, i := range w.real() {
			if w.sign(i, a, u) != nil {
				t.Errorf("site %d signs a set in which a site has too few neighbors", i)
			}
			forged := w.forgeAll(a, u)
			if w.shares(i, a, u, forged) != nil {
				t.Errorf("site %d opens a set in which a site has too few neighbors", i)
			}
		}
	}
	if got := w.view.refusals[covey.Code_CODE_TOO_FEW_SURVIVORS] - refused; got != 2*3*len(cut) {
		t.Errorf("%d of %d requests are refused for their survivors: %v", got, 2*3*len(cut), w.view.refusals)
	}
	// Two sets, half of the sites each first; then shares for both.
	one := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return i == 40 })
	two := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return i == 41 })
	for n, i := range w.honest {
		first, second := one, two
		if n%5 == 0 {
			first, second = two, one
		}
		w.sign(i, a, first)
		w.sign(i, a, second)
	}
	// Certificates of too few of the committee, filled with others.
	committee, threshold := g.Committee(), w.plan.Thresholds.Threshold
	cert := w.certificate(a, one)
	few, valid := make([][]byte, w.n()), 0
	for i := range cert {
		if inside := slices.Contains(committee, i); !inside || valid < threshold-1 && cert[i] != nil {
			if few[i] = cert[i]; inside {
				valid++
			}
		}
	}
	for _, i := range w.real() {
		if w.shares(i, a, one, few) != nil {
			t.Errorf("site %d opens with %d signatures of the committee, %d are needed", i, valid, threshold)
		}
	}
	half := w.honest[:len(w.honest)/2]
	f.opens(a, one, half...)
	f.opens(a, two, w.honest...)
	if r := w.hold(); len(r.openings) != 0 {
		t.Errorf("with half of the helpers open are %v", r.openings)
	}
	// The rest moves to another slot, with as many as will come.
	f.uploads(b, w.honest...)
	f.signs(b, two, w.honest...)
	f.opens(b, two, w.honest...)
	if r := w.hold(); len(r.openings) != 0 {
		t.Errorf("with half of the helpers in each slot open are %v", r.openings)
	}
	for _, i := range w.honest {
		w.upload(i, a)
		w.shares(i, a, one, w.certificate(a, one))
	}
	w.hold()
	w.final(a, all)
	f = field{w, 1, 3}
	w.name[1] = "an honest query"
	f.round(f.at(0, 2), one)
	r := w.hold()
	lawful := 0
	for _, o := range r.openings {
		if o.query == 1 && len(o.sites) == len(one)-len(w.corrupt) {
			lawful++
		}
	}
	if lawful != 1 {
		t.Errorf("open are %v, want the honest query's sum", r.openings)
	}
	t.Logf("figure: %d sites, 3 of them agents, %d sets that cut a site off refused, %d uploads, %d shares messages, %d sums open",
		w.n(), len(cut), r.uploads, r.shares, len(r.openings))
}

// cutOff returns sets of at least U_min sites in which one honest site has fewer mask neighbors
// than r.
func (w *world) cutOff(t *testing.T, g *graph.Graph) (out [][]int) {
	t.Helper()
	n := w.plan.Thresholds
	for _, victim := range w.honest {
		neighbors, left := g.Neighbors(victim), n.MinNeighbors-1
		var u []int
		for i := range w.n() {
			if slices.Contains(neighbors, i) {
				if left--; left < 0 {
					continue
				}
			}
			u = append(u, i)
		}
		if len(u) >= n.MinSurvivors {
			out = append(out, u)
		}
	}
	// Below U_min as well, each as large as it may not be.
	return append(out, upTo(n.MinSurvivors-1))
}

// forgeAll is a certificate of true signatures of all corrupt sites and of the sites of the book,
// as if they were all corrupt.
func (w *world) forgeAll(a study.Ask, u []int) [][]byte {
	out := make([][]byte, w.n())
	for i, p := range w.party {
		out[i] = ed25519.Sign(p.identity, releaseBytes(w.Setup.Transcript(), w.secagg(a), u))
	}
	return out
}
