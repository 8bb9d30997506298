package hostile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// field is where one attack stands: a query, and three slots of its own.
type field struct {
	*world
	query, slot int
}

func (f field) at(slot, x int) study.Ask { return f.asking(f.query, f.slot+slot, x) }

// uploads asks sites a query and says how many answer.
func (f field) uploads(a study.Ask, sites ...int) (n int) {
	f.t.Helper()
	for _, i := range sites {
		if f.upload(i, a) != nil {
			n++
		}
	}
	return n
}

func (f field) signs(a study.Ask, u []int, sites ...int) (n int) {
	f.t.Helper()
	for _, i := range sites {
		if f.sign(i, a, u) != nil {
			n++
		}
	}
	return n
}

func (f field) opens(a study.Ask, u []int, sites ...int) (n int) {
	f.t.Helper()
	for _, i := range sites {
		if f.shares(i, a, u, f.certificate(a, u)) != nil {
			n++
		}
	}
	return n
}

// wants compares how many sites did what was asked.
func (f field) wants(what string, got, want int) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("%s: %s: %d sites, want %d", f.name[f.query], what, got, want)
	}
}

// close ends the query with a result of a slot in which all sites uploaded.
func (f field) close() {
	f.t.Helper()
	for slot := 2; slot >= 0; slot-- {
		var asks []study.Ask
		for _, up := range f.view.uploads {
			if up.ask.Slot == f.slot+slot {
				asks = append(asks, up.ask)
			}
		}
		if len(asks) >= len(f.honest) {
			f.final(asks[0], f.everyone())
			return
		}
	}
	f.t.Fatalf("%s: no slot of query %d was uploaded in by all", f.name[f.query], f.query)
}

// Sets of five sites, of which 0 is corrupt.
var (
	all5   = []int{0, 1, 2, 3, 4}
	but4   = []int{0, 1, 2, 3}
	but3   = []int{0, 1, 2, 4}
	only   = []int{1, 2, 3, 4} // the honest
	honest = only
)

type attack struct {
	name  string
	opens int // sums of the query that may be open in the end: 0 or 1
	do    func(field)
}

// slotAttacks are about slots, rounds and what is asked in them.
var slotAttacks = []attack{
	{"another x in a used slot", 1, func(f field) { // S2, L4
		a, b := f.at(0, 1), f.at(0, 2)
		f.wants("upload", f.uploads(a, honest...), 4)
		f.wants("upload of another x", f.uploads(b, honest...), 0)
		f.wants("sign", f.signs(a, all5, honest...), 4)
		f.wants("upload of another x after signing", f.uploads(b, honest...), 0)
		f.wants("open", f.opens(a, all5, honest...), 4)
		f.wants("upload of another x after opening", f.uploads(b, honest...), 0)
	}},
	{"another x to half of the sites", 0, func(f field) { // S2, A4
		a, b := f.at(0, 1), f.at(0, 2)
		f.uploads(a, 1, 2)
		f.uploads(b, 3, 4)
		for _, u := range [][]int{all5, but4} {
			f.signs(a, u, 1, 2)
			f.signs(b, u, 3, 4)
			f.wants("open", f.opens(a, u, honest...)+f.opens(b, u, honest...), 0)
		}
	}},
	{"another x to one site, which is in U", 0, func(f field) { // S2, A4
		a, b := f.at(0, 1), f.at(0, 2)
		f.uploads(a, 1, 2, 3)
		f.uploads(b, 4)
		f.signs(a, all5, 1, 2, 3)
		f.signs(b, all5, 4)
		f.wants("open", f.opens(a, all5, 1, 2, 3), 3)
		f.wants("open with another context's certificate", f.opens(a, all5, 4), 0)
	}},
	{"another x to one site, which is not in U", 1, func(f field) {
		a, b := f.at(0, 1), f.at(0, 2)
		f.uploads(a, 1, 2, 3)
		f.uploads(b, 4)
		f.signs(a, but4, 1, 2, 3)
		f.wants("open", f.opens(a, but4, 1, 2, 3), 3)
	}},
	{"one set's signatures in another context", 0, func(f field) { // A4: the signatures of x for x'
		a, b := f.at(0, 1), f.at(0, 2)
		f.uploads(a, 1, 2, 3)
		f.uploads(b, 4)
		f.signs(a, all5, 1, 2, 3)
		f.wants("open", len(nonNil(f.shares(4, b, all5, f.certificate(a, all5)))), 0)
	}},
	{"the same x again without one site, after opening", 1, func(f field) { // L10
		a, b := f.at(0, 1), f.at(1, 1)
		f.uploads(a, honest...)
		f.signs(a, all5, honest...)
		f.wants("open", f.opens(a, all5, honest...), 4)
		f.wants("upload in a new slot", f.uploads(b, honest...), 0)
		f.wants("sign in a new slot", f.signs(b, but4, honest...), 0)
	}},
	{"the same x again without one site, before opening", 1, func(f field) { // L9
		a, b := f.at(0, 1), f.at(1, 1)
		for _, s := range []study.Ask{a, b} {
			f.wants("upload", f.uploads(s, honest...), 4)
			f.signs(s, map[study.Kind][]int{a.Kind: all5}[s.Kind], honest...)
		}
		f.wants("sign another set in the new slot", f.signs(b, but4, honest...), 0)
		f.uploads(a, honest...)
		f.wants("open the old slot", f.opens(a, all5, honest...), 0)
		f.uploads(b, honest...)
		f.wants("open the new slot", f.opens(b, all5, honest...), 4)
	}},
	// L8 to L10: 1 and 2 in the old slot, 3 and 4 in the new
	{"a new slot for half of the sites", 0, func(f field) {
		a, b := f.at(0, 1), f.at(1, 1)
		f.uploads(a, honest...)
		f.signs(a, all5, honest...)
		f.wants("open the old slot", f.opens(a, all5, 1, 2), 2)
		f.wants("go to the new slot", f.uploads(b, honest...), 2)
		f.signs(b, but3, 3, 4)
		f.wants("open the new slot", f.opens(b, but3, honest...), 0)
		f.uploads(a, 3, 4)
		f.wants("come back", f.opens(a, all5, 3, 4), 0)
	}},
	{"three of four move on, one helps the old slot", 1, func(f field) { // L9
		a, b := f.at(0, 1), f.at(1, 1)
		f.uploads(a, honest...)
		f.signs(a, but4, honest...)
		f.uploads(b, 1, 2, 3)
		f.wants("sign", f.signs(b, but4, 1, 2, 3), 3)
		f.wants("open the new slot", f.opens(b, but4, 1, 2, 3), 3)
		f.uploads(a, 1, 2, 3)
		f.wants("open the old slot", f.opens(a, but4, honest...), 1)
	}},
	{"the earlier slot after the later", 1, func(f field) { // L5
		b := f.at(1, 1)
		f.wants("upload", f.uploads(b, honest...), 4)
		f.wants("upload in the earlier slot", f.uploads(f.at(0, 1), honest...)+f.uploads(f.at(0, 2), honest...), 0)
		f.signs(b, all5, honest...)
		f.opens(b, all5, honest...)
	}},
	{"slots in another order at other sites", 0, func(f field) { // L5
		f.uploads(f.at(0, 1), 1, 2)
		f.uploads(f.at(1, 1), 3, 4)
		f.wants("the earlier slot at those that went on", f.uploads(f.at(0, 1), 3, 4), 0)
		f.wants("the later slot at the others", f.uploads(f.at(1, 1), 1, 2), 2)
		f.uploads(f.at(0, 1), 1, 2)
		f.signs(f.at(0, 1), but4, honest...)
		f.wants("open", f.opens(f.at(0, 1), but4, honest...), 0)
	}},
	{"a slot of the query before", 1, func(f field) { // L5
		if f.query > 0 {
			f.wants("upload", f.uploads(f.at(-3, 1), honest...)+f.uploads(f.at(-3, 2), honest...), 0)
		}
		f.round(f.at(0, 1), all5)
	}},
	{"the next query before this one's result", 1, func(f field) { // AG-10
		next := f.asking(f.query+1, f.slot+1, 1)
		f.wants("upload", f.uploads(next, honest...), 0)
		f.round(f.at(0, 1), all5)
		f.wants("upload after opening", f.uploads(next, honest...), 0)
		f.wants("sign", f.signs(next, but4, honest...), 0)
	}},
	{"shares before signing, then a signature on another set", 1, func(f field) { // L10, L11
		a := f.at(0, 1)
		f.uploads(a, honest...)
		f.signs(a, all5, 1, 2, 3)
		f.wants("open", f.opens(a, all5, 4), 1)
		f.wants("sign another set", f.signs(a, but3, 4), 0)
		f.wants("sign the same", f.signs(a, all5, 4), 1)
		f.opens(a, all5, honest...)
	}},
	{"shares for a set other than the certified one", 0, func(f field) { // A6
		a := f.at(0, 1)
		f.uploads(a, honest...)
		f.signs(a, all5, honest...)
		cert := f.certificate(a, all5)
		for _, i := range honest {
			for _, u := range [][]int{but4, but3, only} {
				if f.shares(i, a, u, cert) != nil {
					f.t.Errorf("site %d opens %v with a certificate of another set", i, u)
				}
			}
		}
	}},
	{"both kinds of one dealer", 1, func(f field) { // A6, L8
		a := f.at(0, 1)
		f.uploads(a, honest...)
		f.signs(a, but4, 1, 2, 3)
		f.signs(a, but3, 4)
		f.wants("open", f.opens(a, but4, honest...), 4)
		f.wants("open without 3", f.opens(a, but3, honest...), 0)
		f.wants("open all", f.opens(a, all5, honest...), 0)
	}},
	{"signatures of two sets mixed", 0, func(f field) { // A6, A9
		a := f.at(0, 1)
		f.uploads(a, honest...)
		f.signs(a, but4, 1, 2)
		f.signs(a, but3, 3, 4)
		mixed := f.certificate(a, but4)
		other := f.certificate(a, but3)
		mixed[3], mixed[4] = other[3], other[4]
		for _, i := range honest {
			if f.shares(i, a, but4, mixed) != nil || f.shares(i, a, but3, mixed) != nil {
				f.t.Errorf("site %d opens on signatures of two sets", i)
			}
		}
	}},
	{"another grid, noise, x or history", 1, func(f field) { // S3
		for name, change := range map[string]func(*study.Ask){
			"grid":    func(a *study.Ask) { a.Grid *= 2 },
			"radius":  func(a *study.Ask) { a.Radius *= 2; a.Grid *= 2 },
			"sigma":   func(a *study.Ask) { a.Sigma /= 2 },
			"history": func(a *study.Ask) { a.History[0]++ },
			"x":       func(a *study.Ask) { a.X = turned(a.X, 1e-8) },
			"centre":  func(a *study.Ask) { a.Center = []float64{1, 1} },
			"found":   func(a *study.Ask) { a.Found = direction(1) },
			"length":  func(a *study.Ask) { a.X = []float64{2, 0} },
		} {
			a := f.at(0, 1)
			change(&a)
			f.wants(name, f.uploads(a, honest...), 0)
		}
		f.round(f.at(0, 1), all5)
	}},
	// L12, R7: a coordinator put back to before it
	{"after the result: everything again", 1, func(f field) {
		a, b := f.at(0, 1), f.at(1, 1)
		f.round(a, all5)
		m := f.final(a, all5)
		before := len(f.view.shares) + len(f.view.uploads)
		f.ask(1, announce(f.plan.Digest))
		f.ask(1, f.dealing(1))
		f.ask(1, confirmed(f.plan.Digest, f.confirmed))
		f.wants("upload", f.uploads(a, honest...)+f.uploads(b, honest...)+f.uploads(f.at(0, 2), honest...), 0)
		f.wants("sign", f.signs(a, all5, honest...)+f.signs(a, but4, honest...)+f.signs(b, but4, honest...), 0)
		f.wants("open", f.opens(a, all5, honest...)+f.opens(a, but4, honest...), 0)
		for _, i := range honest {
			no := answerTo(f.ask(i, query(f.plan.Digest, b)), (*covey.SiteMessage).GetRefusal)
			if no.GetCode() != covey.Code_CODE_FINAL || !slices.Equal(no.GetFinal().GetReleased(), m.GetFinal().GetReleased()) {
				f.t.Errorf("site %d does not show the result that it holds: %v", i, no.GetCode())
			}
			f.ask(i, f.result(a, all5, 7)) // another result of the query
			no = answerTo(f.ask(i, query(f.plan.Digest, b)), (*covey.SiteMessage).GetRefusal)
			if !slices.Equal(no.GetFinal().GetReleased(), m.GetFinal().GetReleased()) {
				f.t.Errorf("site %d holds another result now", i)
			}
		}
		if got := len(f.view.shares) + len(f.view.uploads); got != before {
			f.t.Errorf("%d more uploads and shares after the result", got-before)
		}
	}},
	// L12, L15: it costs the query, no more
	{"a result of what was never opened", 0, func(f field) {
		a := f.at(0, 1)
		f.uploads(a, honest...)
		f.signs(a, all5, honest...)
		f.final(a, all5)
		f.wants("open", f.opens(a, all5, honest...), 0)
		f.wants("another slot", f.uploads(f.at(1, 1), honest...), 0)
	}},
}

func nonNil(b []byte) [][]byte {
	if b == nil {
		return nil
	}
	return [][]byte{b}
}

// TestSlotAttacks runs each attack of the table in a query of its own, against the same agents,
// with the leader's noise and with the sites' own.
func TestSlotAttacks(t *testing.T) {
	attacks := slices.Concat(slotAttacks, openingAttacks)
	for _, noise := range noises {
		t.Run(noise, func(t *testing.T) {
			w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: len(attacks) + 2, spare: 2*len(attacks) + 8, change: noisy(noise)})
			w.begin()
			w.attacked(attacks, "")
			t.Logf("figure: %d attacks on slots and openings; %v", len(attacks), w.view.refusals)
		})
	}
}

var noises = []string{proposal.NoiseCentral, proposal.NoiseDistributed}

func noisy(noise string) func(*proposal.Spec) { return func(s *proposal.Spec) { s.Noise = noise } }

// attacked runs each attack in a query of its own and compares the sums that are open.
func (w *world) attacked(attacks []attack, how string) {
	w.t.Helper()
	want := map[int]int{}
	for k, a := range attacks {
		f := field{w, k, 3 * k}
		w.name[k], want[k] = a.name+how, a.opens
		a.do(f)
		f.close()
	}
	for _, o := range w.hold().openings {
		want[o.query]--
	}
	for k, left := range want {
		if left != 0 {
			w.t.Errorf("%s: %d sums are open, want %d", w.name[k], attacks[k].opens-left, attacks[k].opens)
		}
	}
}

// TestRandomCoordinator delivers messages as they come: three slots, five survivor sets, two x,
// crashes. What it may open is as before. Rules L4 to L12, AG-11, AG-12; with "wait" L7.
func TestRandomCoordinator(t *testing.T) {
	for _, dropout := range []string{proposal.DropoutContinue, proposal.DropoutWait} {
		t.Run(dropout, func(t *testing.T) {
			queries := 4
			switch {
			case *variants == 0:
				queries = 150
			case testing.Short():
				queries = 2
			}
			w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: queries + 1, spare: 2*queries + 8,
				change: func(s *proposal.Spec) { s.OnDropout = dropout }})
			w.begin()
			const seed = 11
			rng := rand.New(rand.NewPCG(seed, 0))
			sets := [][]int{all5, but4, but3, only, {0, 1, 3, 4}}
			messages := 0
			for k := range queries {
				f := field{w, k, 3 * k}
				w.name[k] = fmt.Sprintf("random messages of seed %d", seed)
				// Mostly one slot and set, or hardly any would ever be certified.
				slot, likely := rng.IntN(2), rng.IntN(len(sets))
				if dropout == proposal.DropoutWait {
					likely = 0 // no other is ever lawful
				}
				for range 120 {
					i, a, u := honest[rng.IntN(4)], f.at(slot, 1), sets[likely]
					if rng.IntN(8) == 0 {
						u = sets[rng.IntN(len(sets))]
					}
					if rng.IntN(30) == 0 {
						a = f.at(rng.IntN(3), 1)
					}
					if rng.IntN(80) == 0 {
						a = f.at(slot, 2)
					}
					messages++
					switch rng.IntN(10) {
					case 0, 1:
						w.upload(i, a)
					case 2, 3, 4:
						w.sign(i, a, u)
					case 5, 6:
						w.shares(i, a, u, w.certificate(a, u))
					case 7:
						if rng.IntN(8) == 0 {
							w.agent(i).restart()
							w.upload(i, a)
						}
					case 8:
						w.keys(i, a, u)
					case 9:
						w.prove(i, a, u, rng.IntN(5))
					}
				}
				// Nobody needs to have uploaded in one slot: the result covers those who did.
				for _, i := range honest {
					w.upload(i, f.at(2, 1))
				}
				f.finish()
			}
			r := w.hold()
			t.Logf("figure: %d random messages in %d queries (%s): %d sums open, none twice", messages, queries, dropout, len(r.openings))
			if len(r.openings) == 0 {
				t.Error("nothing was opened: the messages do not get as far as shares")
			}
		})
	}
}

// finish ends a query of five sites.
func (f field) finish() { f.finishWith(all5) }

// finishWith tells all sites a result that none can take for a sign of a rollback: over sites that
// uploaded in its slot. Where no slot has enough of them, each is told another: their histories
// part.
func (f field) finishWith(u []int) {
	f.t.Helper()
	for slot := 2; slot >= 0; slot-- {
		var a study.Ask
		in := slices.DeleteFunc(slices.Clone(u), func(i int) bool {
			at := slices.IndexFunc(f.view.uploads, func(u uploaded) bool { return u.site == i && u.ask.Slot == f.slot+slot })
			if at >= 0 {
				a = f.view.uploads[at].ask
			}
			return at < 0 && slices.Contains(f.honest, i)
		})
		if len(in) >= f.plan.Thresholds.MinSurvivors {
			f.final(a, in)
			return
		}
	}
	f.follow(f.result(f.latest[f.honest[0]], u, 0))
	for _, i := range f.honest {
		for slot := 2; slot >= 0; slot-- {
			at := slices.IndexFunc(f.view.uploads, func(u uploaded) bool { return u.site == i && u.ask.Slot == f.slot+slot })
			if at >= 0 {
				f.ask(i, f.result(f.view.uploads[at].ask, u, 0))
				break
			}
		}
	}
}
