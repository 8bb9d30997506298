package graph

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Graph is who does what for whom above proposal.MaxComplete sites: everybody derives the whole of
// it from one seed that nobody could choose. It never changes once made.
type Graph struct {
	numbers   Numbers
	holders   [][]uint16 // of each site, in the order drawn
	held      [][]share  // by each site, dealers ascending
	neighbors [][]uint16 // in the mask graph, ascending
	committee []uint16   // ascending
}

// Share names a share: of Dealer's polynomials at X, 1..K.
type Share struct{ Dealer, X int }

// share is a Share in little memory: at 10,000 sites there are millions.
type share struct{ dealer, x uint16 }

// New checks the numbers and draws the graph: K holders of each site, m mask neighbors that
// each site picks, and the committee, each a uniform set (a uniform order, for holders) independent
// of all others. An [*Error] if some site has fewer than r mask neighbors: it could never be in
// U. Numbers of NewNumbers draw such a graph with probability below 10^-6, that with which
// any present site has too few present ones.
func New(n Numbers, seed [32]byte) (*Graph, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	g := &Graph{numbers: n}
	g.holders = drawOthers(newDrawing(seed, "holders", n), n.Sites, n.Holders)
	g.held = heldBy(g.holders)
	picked := drawOthers(newDrawing(seed, "masks", n), n.Sites, n.Degree)
	g.neighbors = bothWays(picked)
	order := ascending(n.Sites)
	newDrawing(seed, "committee", n).shuffle(order, n.Holders)
	g.committee = slices.Clone(order[:n.Holders])
	slices.Sort(g.committee)
	for i, all := range g.neighbors {
		if len(all) < n.MinNeighbors {
			return nil, refuse("the seed gives site %d %d mask neighbors, at least %d are needed", i, len(all), n.MinNeighbors)
		}
	}
	return g, nil
}

// Holders are the sites that hold a share of site j: Holders(j)[x-1] the one at x.
func (g *Graph) Holders(j int) []int { return widened(g.holders[j]) }

// Held is which shares site i holds, dealers ascending.
func (g *Graph) Held(i int) []Share {
	out := make([]Share, len(g.held[i]))
	for k, s := range g.held[i] {
		out[k] = Share{int(s.dealer), int(s.x)}
	}
	return out
}

// Neighbors are the sites that site i shares masks with, ascending.
func (g *Graph) Neighbors(i int) []int { return widened(g.neighbors[i]) }

// Owns reports whether site i owns the pair that it is in with j: its e keys their masks, and the
// other end gets the key in a box. Every second pair is the lower site's.
func Owns(i, j int) bool { return (i+j)%2 == 1 == (i < j) }

// OwnerOf returns which of two sites owns their pair.
func OwnerOf(i, j int) int {
	if Owns(i, j) {
		return i
	}
	return j
}

// Owned are the mask neighbors with which site i's pair is its own, ascending: it sends them keys.
func (g *Graph) Owned(i int) []int {
	return slices.DeleteFunc(g.Neighbors(i), func(j int) bool { return !Owns(i, j) })
}

// Owners are the mask neighbors that own their pair with site i, ascending: they send it keys.
func (g *Graph) Owners(i int) []int {
	return slices.DeleteFunc(g.Neighbors(i), func(j int) bool { return Owns(i, j) })
}

// Recipients are the sites that site i sends a box: its holders, and the neighbors whose pair it
// owns; ascending, without itself.
func (g *Graph) Recipients(i int) []int { return union(i, g.Holders(i), g.Owned(i)) }

// Senders are the sites that send site i a box: the dealers whose shares it holds, and the owners
// of its pairs; ascending, without itself.
func (g *Graph) Senders(i int) []int {
	dealers := make([]int, len(g.held[i]))
	for k, s := range g.held[i] {
		dealers[k] = int(s.dealer)
	}
	return union(i, dealers, g.Owners(i))
}

// union is two sets in one, ascending, without site i.
func union(i int, a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(j int) bool { return i == j })
}

// Find returns where a dealer stands in Held(i), and where site i's shares of it stand; false if it
// holds none.
func (g *Graph) Find(i, dealer int) (at, x int, ok bool) {
	at, ok = slices.BinarySearchFunc(g.held[i], uint16(dealer), func(s share, j uint16) int { return int(s.dealer) - int(j) })
	if !ok {
		return 0, 0, false
	}
	return at, int(g.held[i][at].x), true
}

// Linked reports whether two sites share masks.
func (g *Graph) Linked(i, j int) bool {
	_, ok := slices.BinarySearch(g.neighbors[i], uint16(j))
	return ok
}

// Signs reports whether a site is in the committee.
func (g *Graph) Signs(site int) bool {
	_, ok := slices.BinarySearchFunc(g.committee, site, func(i uint16, site int) int { return int(i) - site })
	return ok
}

// Numbers are those that the graph was made for.
func (g *Graph) Numbers() Numbers { return g.numbers }

// Committee is the sites whose release signatures count, ascending: T of them are a certificate.
func (g *Graph) Committee() []int { return widened(g.committee) }

// Acceptable checks that U is a set of at least U_min sites of the study, of which each has at
// least r mask neighbors in U. Every site checks the whole of U before it signs and before it
// opens: its own neighbors alone would not show that a few sites elsewhere are cut off.
func (g *Graph) Acceptable(u []int) error {
	if err := CheckSet(u, g.numbers.Sites, g.numbers.MinSurvivors); err != nil {
		return err
	}
	in := make([]bool, g.numbers.Sites)
	for _, i := range u {
		in[i] = true
	}
	for _, i := range u {
		if have := g.within(in, i); have < g.numbers.MinNeighbors {
			return refuse("survivor %d has %d mask neighbors among the survivors, at least %d are needed", i, have, g.numbers.MinNeighbors)
		}
	}
	return nil
}

// largest is the largest set of present sites of which each has r mask neighbors in the set, nil
// if only the empty set is one: sites with too few are left out until none is. The result does not
// depend on the order, as no site of any such set is ever left out. Indices that are no site's are
// ignored; U_min is Acceptable's to check.
func (g *Graph) largest(present []int) []int {
	in := make([]bool, g.numbers.Sites)
	for _, i := range present {
		if i >= 0 && i < len(in) {
			in[i] = true
		}
	}
	have := make([]int, len(in))
	var out []int // left out, whose neighbors do not know yet
	leave := func(i int) {
		if in[i] && have[i] < g.numbers.MinNeighbors {
			in[i] = false
			out = append(out, i)
		}
	}
	for i := range in {
		if in[i] {
			have[i] = g.within(in, i)
		}
	}
	for i := range in {
		leave(i)
	}
	for len(out) > 0 {
		last := out[len(out)-1]
		out = out[:len(out)-1]
		for _, j := range g.neighbors[last] {
			have[j]--
			leave(int(j))
		}
	}
	var u []int
	for i, is := range in {
		if is {
			u = append(u, i)
		}
	}
	return u
}

// within counts site i's mask neighbors in a set.
func (g *Graph) within(in []bool, i int) int {
	have := 0
	for _, j := range g.neighbors[i] {
		if in[j] {
			have++
		}
	}
	return have
}

// A drawing draws uniform numbers from an AES-256-CTR stream: 4 bytes each, big-endian, those at
// and above the last multiple of the range thrown away, so that none is likelier than another.
type drawing struct {
	stream cipher.Stream
	buffer []byte
	rest   []byte // of buffer, not used yet
}

// newDrawing's stream depends on the numbers as well: the same seed under other numbers is another
// graph.
func newDrawing(seed [32]byte, part string, n Numbers) *drawing {
	var numbers []byte
	for _, v := range []int{n.Sites, n.Corrupt, n.MinSurvivors, n.Holders, n.Threshold, n.Degree, n.MinNeighbors} {
		numbers = binary.BigEndian.AppendUint16(numbers, uint16(v))
	}
	key, err := hkdf.Key(sha256.New, seed[:], nil, "covey secagg v2 graph "+part+"\x00"+string(numbers), 32)
	if err != nil {
		panic(err) // only for lengths over 255 hashes
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // keys are 32 bytes of HKDF
	}
	return &drawing{stream: cipher.NewCTR(block, make([]byte, aes.BlockSize)), buffer: make([]byte, 4096)}
}

// below returns a uniform number in 0..n-1, n in 1..65536.
func (d *drawing) below(n int) int {
	for {
		if len(d.rest) == 0 {
			clear(d.buffer)
			d.stream.XORKeyStream(d.buffer, d.buffer)
			d.rest = d.buffer
		}
		x := uint64(binary.BigEndian.Uint32(d.rest))
		d.rest = d.rest[4:]
		if whole := uint64(1) << 32 / uint64(n) * uint64(n); x < whole {
			return int(x % uint64(n))
		}
	}
}

// shuffle puts a uniform ordered choice of k entries at the beginning (Fisher and Yates): entry i
// changes places with one of those from i on. It returns whom each changed places with.
func (d *drawing) shuffle(order []uint16, k int) []int {
	with := make([]int, k)
	for i := range k {
		with[i] = i + d.below(len(order)-i)
		order[i], order[with[i]] = order[with[i]], order[i]
	}
	return with
}

// drawOthers draws, for each site in turn, k of the other sites: of the others in ascending order.
func drawOthers(d *drawing, sites, k int) [][]uint16 {
	drawn := make([][]uint16, sites)
	order := ascending(sites - 1)
	for j := range drawn {
		with := d.shuffle(order, k)
		drawn[j] = slices.Clone(order[:k])
		for i, other := range drawn[j] {
			if int(other) >= j {
				drawn[j][i]++
			}
		}
		for i := k - 1; i >= 0; i-- { // ascending again for the next
			order[i], order[with[i]] = order[with[i]], order[i]
		}
	}
	return drawn
}

// heldBy turns who holds whose shares around.
func heldBy(holders [][]uint16) [][]share {
	held := make([][]share, len(holders))
	for i, count := range counts(holders) {
		held[i] = make([]share, 0, count)
	}
	for dealer, by := range holders {
		for k, i := range by {
			held[i] = append(held[i], share{uint16(dealer), uint16(k + 1)})
		}
	}
	return held
}

// bothWays returns, for each site, those that it picked and those that picked it, once each,
// ascending.
func bothWays(picked [][]uint16) [][]uint16 {
	pickedBy := turned(picked)
	all := make([][]uint16, len(picked))
	for i, out := range turned(pickedBy) { // out is picked[i], ascending
		in := pickedBy[i]
		merged := make([]uint16, 0, len(in)+len(out))
		for len(in) > 0 && len(out) > 0 {
			switch {
			case in[0] < out[0]:
				merged, in = append(merged, in[0]), in[1:]
			case in[0] > out[0]:
				merged, out = append(merged, out[0]), out[1:]
			default:
				merged, in, out = append(merged, in[0]), in[1:], out[1:]
			}
		}
		all[i] = append(append(merged, in...), out...)
	}
	return all
}

// turned reverses every arc; its lists are ascending.
func turned(arcs [][]uint16) [][]uint16 {
	back := make([][]uint16, len(arcs))
	for i, count := range counts(arcs) {
		back[i] = make([]uint16, 0, count)
	}
	for from, to := range arcs {
		for _, i := range to {
			back[i] = append(back[i], uint16(from))
		}
	}
	return back
}

// counts is how many arcs end at each site.
func counts(arcs [][]uint16) []int {
	at := make([]int, len(arcs))
	for _, to := range arcs {
		for _, i := range to {
			at[i]++
		}
	}
	return at
}

func ascending(n int) []uint16 {
	order := make([]uint16, n)
	for i := range order {
		order[i] = uint16(i)
	}
	return order
}

func widened(sites []uint16) []int {
	out := make([]int, len(sites))
	for i, site := range sites {
		out[i] = int(site)
	}
	return out
}
