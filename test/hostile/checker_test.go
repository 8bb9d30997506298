package hostile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"filippo.io/edwards25519"

	"covey/internal/study"
)

// The checker. Of every upload it knows, from the sites' own secrets, which keys mask it with which
// sign, and checks that these and nothing else do. Of every share that the coordinator has, and of
// every pair's key that it was told, it knows whose it is. A key is known to the coordinator if a
// corrupt site has it, if it was told, or if enough shares of the secret behind it, interpolated,
// give it: of a pair, that of either end, which owns the pair or deposited its key. What is left is
// linear algebra: the integer combinations of uploads in which every key that is not known cancels,
// the left null space of the matrix (upload × key), are what is opened. Allowed is one of them a
// query, which is the sum over the honest sites of one U of at least U_min sites.

// report is what the checker finds.
type report struct {
	openings []opening
	broken   []string
	uploads  int
	shares   int
}

// opening is one sum that can be read: over these honest sites.
type opening struct {
	query, slot int
	sites       []int
}

func (r *report) breaks(format string, args ...any) {
	r.broken = append(r.broken, fmt.Sprintf(format, args...))
}

// known are the points of a slot's shares that the coordinator has: by dealer and kind, x to y.
type known map[int]*[2]map[int]*edwards25519.Scalar

// row is one upload: the keys that mask it and are not known, with their signs.
type row struct {
	up   uploaded
	keys map[[32]byte]int64
}

type checker struct {
	w     *world
	r     report
	slots map[int][]dealt // by slot, of every site
	have  map[int]known
	open  map[int][2]map[int]bool // by slot: dealers whose b, whose e is known
	keys  map[[3]int][32]byte     // by slot and pair
	told  map[[3]int]bool         // of these, those that the coordinator was told
	heads map[int][32]byte        // hashes of the announcements' headers
}

// check judges the whole view.
func (w *world) check() report { return w.checkWith(nil) }

// checkWith judges the view of somebody who has read some boxes besides.
func (w *world) checkWith(read []letter) report {
	w.t.Helper()
	c := &checker{w: w, slots: map[int][]dealt{}, have: map[int]known{}, open: map[int][2]map[int]bool{},
		keys: map[[3]int][32]byte{}, told: map[[3]int]bool{}, heads: map[int][32]byte{}}
	for _, raw := range w.view.shares {
		c.share(raw)
	}
	for _, raw := range w.view.keys {
		c.pairKeys(raw)
	}
	for _, l := range read {
		c.letter(l)
	}
	c.certificates()
	var rows []row
	for _, up := range w.view.uploads {
		rows = append(rows, c.row(up))
	}
	c.r.uploads, c.r.shares = len(rows), len(w.view.shares)
	for _, block := range connected(rows) {
		c.block(block)
	}
	c.queries()
	return c.r
}

// dealers returns every site's polynomials in a slot.
func (c *checker) dealers(slot int) []dealt {
	if c.slots[slot] == nil {
		out := make([]dealt, c.w.n())
		for i := range out {
			out[i] = dealtBy(c.w.truth[i][slot], slot, i, c.w.plan.Thresholds.Threshold)
		}
		c.slots[slot] = out
	}
	return c.slots[slot]
}

// points returns what is known of a slot, with what the corrupt sites hold from the start.
func (c *checker) points(slot int) known {
	if c.have[slot] != nil {
		return c.have[slot]
	}
	k := known{}
	for i := range c.w.n() {
		k[i] = &[2]map[int]*edwards25519.Scalar{{}, {}}
	}
	for _, bad := range c.w.corrupt {
		raw, err := c.w.party[bad].held[slot].MarshalBinary()
		if err != nil {
			c.w.t.Fatal(err)
		}
		raw = raw[6:] // counts; then all of b, then all of e
		for kind := range c.w.kinds() {
			for _, at := range c.w.Setup.Graph().Held(bad) {
				y, err := edwards25519.NewScalar().SetCanonicalBytes(raw[:32])
				if err != nil {
					c.w.t.Fatal(err)
				}
				k[at.Dealer][kind][at.X], raw = y, raw[32:]
			}
		}
	}
	c.have[slot] = k
	return k
}

// from reads what shares and keys begin with.
func (c *checker) from(label string, raw []byte) (slot, from int, values []byte, ok bool) {
	if len(raw) < len(label)+headSize || string(raw[:len(label)]) != label {
		c.r.breaks("a message of %d bytes that is none of %q", len(raw), label)
		return 0, 0, nil, false
	}
	head, values := raw[len(label):][:headSize], raw[len(label)+headSize:]
	at := len("covey secagg release v2\x00") + 32
	slot, from = int(binary.BigEndian.Uint32(head[at:])), int(binary.BigEndian.Uint16(head[headSize-2:]))
	if slot >= c.w.plan.Slots || from >= c.w.n() || len(values)%32 != 0 {
		c.r.breaks("%d bytes of slot %d from site %d", len(values), slot, from)
		return 0, 0, nil, false
	}
	return slot, from, values, true
}

// share takes a shares message apart: whose each is shows by what it is.
func (c *checker) share(raw []byte) {
	slot, from, values, ok := c.from(sharesLabel, raw)
	if !ok {
		return
	}
	held := c.w.Setup.Graph().Held(from)
	if n := len(values)/32 - len(held); n != 0 && n != 1 { // a key of the noise's chain may follow
		c.r.breaks("slot %d: site %d sent %d shares of %d sites", slot, from, len(values)/32, len(held))
		return
	}
	for n, at := range held {
		if !c.value(slot, at.Dealer, at.X, values[32*n:][:32]) {
			c.r.breaks("slot %d: site %d sent a share of site %d that is none", slot, from, at.Dealer)
		}
	}
}

// value notes one value of a dealer's at a place, of either kind.
func (c *checker) value(slot, dealer, x int, y []byte) bool {
	for kind := range 2 {
		if v := evaluate(c.dealers(slot)[dealer][kind], x); bytes.Equal(y, v.Bytes()) {
			c.points(slot)[dealer][kind][x] = v
			return true
		}
	}
	return false
}

// pairKeys takes a message of pairs' keys apart, likewise.
func (c *checker) pairKeys(raw []byte) {
	slot, from, values, ok := c.from(keysLabel, raw)
	if !ok {
		return
	}
	for ; len(values) > 0; values = values[32:] {
		found := false
		for _, j := range c.w.Setup.Graph().Neighbors(from) {
			if c.key(slot, from, j) == [32]byte(values) {
				found = true
				c.told[[3]int{slot, min(from, j), max(from, j)}] = true
			}
		}
		if !found {
			c.r.breaks("slot %d: site %d sent a key of none of its pairs", slot, from)
		}
	}
}

// letter takes what was read of a box: shares by slot, b before e, then keys by slot.
func (c *checker) letter(l letter) {
	plain := l.plain
	for _, at := range c.w.Setup.Graph().Held(l.to) {
		for n := 0; at.Dealer == l.from && n < c.w.kinds()*c.w.plan.Slots; n++ {
			if !c.value(n/c.w.kinds(), l.from, at.X, plain[:32]) {
				c.r.breaks("a box from %d to %d has no shares", l.from, l.to)
			}
			plain = plain[32:]
		}
	}
	for slot := 0; len(plain) > 0; slot++ {
		if c.key(slot, l.from, l.to) != [32]byte(plain) {
			c.r.breaks("a box from %d to %d has no keys", l.from, l.to)
		}
		c.told[[3]int{slot, min(l.from, l.to), max(l.from, l.to)}] = true
		plain = plain[32:]
	}
}

// key is a pair's, as its owner's e has it or as its corrupt owner dealt it.
func (c *checker) key(slot, i, j int) [32]byte {
	at := [3]int{slot, min(i, j), max(i, j)}
	k, ok := c.keys[at]
	if !ok {
		owner, _ := ownerOf(i, j)
		if k, ok = c.w.falseKeys[at]; !ok {
			k = pairKey(c.dealers(slot)[owner][kindE][0], c.w.Setup.Transcript(), slot, i, j)
		}
		c.keys[at] = k
	}
	return k
}

func (c *checker) header(site int) [32]byte {
	h, ok := c.heads[site]
	if !ok {
		h = headerHash(c.w.Config, site)
		c.heads[site] = h
	}
	return h
}

// opened says whose b and whose e are known in a slot: by interpolation, and compared.
func (c *checker) opened(slot int) [2]map[int]bool {
	if o, ok := c.open[slot]; ok {
		return o
	}
	o := [2]map[int]bool{{}, {}}
	dealers, threshold := c.dealers(slot), c.w.plan.Thresholds.Threshold
	for dealer, kinds := range c.points(slot) {
		for kind, points := range kinds {
			secret := dealers[dealer][kind][0]
			bad := slices.Contains(c.w.corrupt, dealer)
			if !bad && len(points) >= threshold {
				if interpolate(firstOf(points, threshold)).Equal(secret) != 1 {
					c.r.breaks("slot %d: %d points of site %d do not give its secret", slot, len(points), dealer)
				}
			}
			o[kind][dealer] = bad || len(points) >= threshold
		}
		if !slices.Contains(c.w.corrupt, dealer) && o[kindE][dealer] && o[kindB][dealer] {
			c.r.breaks("slot %d: both kinds of site %d's secrets are open", slot, dealer)
		}
	}
	c.open[slot] = o
	return o
}

func firstOf(points map[int]*edwards25519.Scalar, n int) map[int]*edwards25519.Scalar {
	out := map[int]*edwards25519.Scalar{}
	for x, y := range points {
		if len(out) < n {
			out[x] = y
		}
	}
	return out
}

// row finds the keys of an upload and checks that they mask it: what is left without them must be
// what the site was asked for. An upload under the masks of another question about its slot is a
// break, and is taken for what it is.
func (c *checker) row(up uploaded) row {
	if r, fits := c.masked(up, up.ask); fits {
		return r
	}
	c.r.breaks("query %d slot %d: site %d's upload is not its sum under the masks of what it was asked", up.ask.Query, up.ask.Slot, up.site)
	for _, other := range c.w.view.uploads {
		if other.ask.Slot == up.ask.Slot {
			if r, fits := c.masked(up, other.ask); fits {
				return r
			}
		}
	}
	r, _ := c.masked(up, up.ask)
	return r
}

// masked returns the keys of an upload if it is masked as one in answer to a.
func (c *checker) masked(up uploaded, a study.Ask) (row, bool) {
	w, ctx := c.w, c.w.secagg(a).Context
	dealers, opened := c.dealers(a.Slot), c.opened(a.Slot)
	out := row{up, map[[32]byte]int64{}}
	v := unpack(up.masked, int(w.plan.Bits/8))
	remove := func(key [32]byte, sign int64, known bool) {
		for k, x := range keystream(key, len(v), w.plan.Bits) {
			v[k] = (v[k] - uint64(sign)*x) & ring(w.plan.Bits)
		}
		if !known {
			out.keys[key] += sign
		}
	}
	remove(selfKey(c.header(up.site), dealers[up.site], a.Slot, up.site, ctx), 1, opened[kindB][up.site])
	for _, j := range w.Setup.Graph().Neighbors(up.site) {
		i, sign := up.site, int64(1)
		if j > i {
			sign = -1
		}
		told := c.told[[3]int{a.Slot, min(i, j), max(i, j)}]
		remove(pairMask(c.key(a.Slot, i, j), a.Slot, i, j, ctx), sign, told || opened[kindE][i] || opened[kindE][j])
	}
	return out, slices.Equal(v, w.vector(up.site, up.ask))
}

// certificates checks what honest sites signed: one set a slot, and no two certificates.
func (c *checker) certificates() {
	sets, certified := map[[2]int][]signed{}, map[int]int{}
	for s, by := range c.w.view.signatures {
		count := 0
		for site := range by {
			sets[[2]int{s.slot, site}] = append(sets[[2]int{s.slot, site}], s)
		}
		for _, i := range c.w.Setup.Graph().Committee() {
			if by[i] != nil || slices.Contains(c.w.corrupt, i) {
				count++
			}
		}
		if count >= c.w.plan.Thresholds.Threshold {
			certified[s.slot]++
		}
	}
	for at, of := range sets {
		if len(of) > 1 {
			c.r.breaks("slot %d: site %d signed %d sets", at[0], at[1], len(of))
		}
	}
	for slot, n := range certified {
		if n > 1 {
			c.r.breaks("slot %d: %d certificates", slot, n)
		}
	}
}

// connected splits rows into blocks that share a key, or would if it were not known: a
// row whose keys are all known stands alone.
func connected(rows []row) (blocks [][]row) {
	of := make([]int, len(rows))
	for i := range of {
		of[i] = i
	}
	find := func(i int) int {
		for of[i] != i {
			i = of[i]
		}
		return i
	}
	first := map[[32]byte]int{}
	for i, r := range rows {
		for key := range r.keys {
			if j, ok := first[key]; ok {
				of[find(i)] = find(j)
			} else {
				first[key] = i
			}
		}
	}
	at := map[int]int{}
	for i, r := range rows {
		root := find(i)
		if _, ok := at[root]; !ok {
			at[root] = len(blocks)
			blocks = append(blocks, nil)
		}
		blocks[at[root]] = append(blocks[at[root]], r)
	}
	return blocks
}

// block finds what is opened of uploads that share keys.
func (c *checker) block(rows []row) {
	null := leftNull(rows)
	if odd := rank2(rows); odd != len(rows)-len(null) {
		// A combination that cancels mod 2 alone cancels, times 2^(b-1), in the ring.
		c.r.breaks("query %d: a combination of uploads cancels in the ring alone", rows[0].up.ask.Query)
	}
	if len(null) > 1 {
		c.r.breaks("query %d slot %d: %d sums of uploads that share masks are open", rows[0].up.ask.Query, rows[0].up.ask.Slot, len(null))
	}
	for _, v := range null {
		o := opening{query: rows[0].up.ask.Query, slot: rows[0].up.ask.Slot}
		ask := rows[0].up.ask
		lawful := true
		for k, r := range rows {
			if v[k].Sign() == 0 {
				continue
			}
			if len(o.sites) == 0 {
				ask = r.up.ask
			}
			// One coefficient for all, of one query asked the same of all.
			lawful = lawful && v[k].Cmp(first(v)) == 0 && sameAsk(ask, r.up.ask) && !slices.Contains(o.sites, r.up.site)
			o.sites = append(o.sites, r.up.site)
		}
		slices.Sort(o.sites)
		o.query, o.slot = ask.Query, ask.Slot
		if !lawful {
			c.r.breaks("query %d slot %d: a combination that is no sum is open: %v of %v", o.query, o.slot, v, o.sites)
		}
		if len(o.sites)+len(c.w.corrupt) < c.w.plan.Thresholds.MinSurvivors {
			c.r.breaks("query %d slot %d: a sum of the honest sites %v alone is open", o.query, o.slot, o.sites)
		}
		c.r.openings = append(c.r.openings, o)
	}
}

func first(v []*big.Rat) *big.Rat {
	return v[slices.IndexFunc(v, func(x *big.Rat) bool { return x.Sign() != 0 })]
}

// queries checks the openings of the study together.
func (c *checker) queries() {
	by, sets := map[int]int{}, map[string]bool{}
	for _, o := range c.r.openings {
		by[o.query]++
		sets[fmt.Sprint(o.sites)] = true
	}
	for q, n := range by {
		if n > 1 {
			c.r.breaks("query %d: %d sums are open", q, n)
		}
	}
	if c.w.plan.Proposal.Spec.Waits() && len(sets) > 1 {
		c.r.breaks("sums over %d sets of sites are open in a study that waits", len(sets))
	}
}

// hold fails the test for each rule that the history breaks, and for what a recording of it tells
// somebody who breaks X25519 or ML-KEM.
func (w *world) hold() report {
	w.t.Helper()
	r := w.check()
	w.oracle(r)
	for n, b := range r.broken {
		if n == 10 {
			w.t.Errorf("and %d more", len(r.broken)-n)
			break
		}
		var query int
		fmt.Sscanf(b, "query %d", &query)
		w.t.Errorf("%s (%s)", b, w.name[query])
	}
	return r
}
