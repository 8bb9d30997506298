package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"sync"
	"testing"
)

// sparseGroup is a whole setup on the sparse graph.
type sparseGroup struct {
	group
	bodies [][]byte
	nonces [][]byte
	board  *Board
}

// sparse gives one group of 70 sites, 3 of them corrupt, to all tests; none may change it.
var sparse = sync.OnceValues(func() (*sparseGroup, error) { return newSparseGroup(70, 3, 2) })

func sharedSparse(t testing.TB) *sparseGroup {
	t.Helper()
	g, err := sparse()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// sparseConfig is of n sites' sparse graph, for a tenth that drops out.
func sparseConfig(n, corrupt, slots int) (Config, []ed25519.PrivateKey, error) {
	cfg, keys := testConfig(n, slots)
	cfg.Corrupt = corrupt
	cfg.MinSurvivors = (n+corrupt)/2 + 1
	var err error
	cfg.Sparse, err = NewNeighbourhood(n, corrupt, cfg.MinSurvivors, 0.1)
	return cfg, keys, err
}

func newSparseGroup(n, corrupt, slots int) (*sparseGroup, error) {
	cfg, keys, err := sparseConfig(n, corrupt, slots)
	if err != nil {
		return nil, err
	}
	g := &sparseGroup{group: group{cfg: cfg, keys: keys}}
	for i := range n {
		g.secrets = append(g.secrets, fixedSecrets(cfg, i))
		raw, err := Announce(cfg, i, g.secrets[i], keys[i])
		if err != nil {
			return nil, err
		}
		head, body, err := cfg.Split(i, raw)
		if err != nil {
			return nil, err
		}
		g.sent, g.bodies = append(g.sent, head), append(g.bodies, body)
		g.nonces = append(g.nonces, cfg.Nonce(i, g.secrets[i]))
	}
	if g.board, err = VerifyHeads(cfg, g.sent); err != nil {
		return nil, err
	}
	if g.setup, err = g.board.Draw(g.nonces); err != nil {
		return nil, err
	}
	for i := range n {
		boxes, err := g.setup.Deal(i, g.secrets[i])
		if err != nil {
			return nil, err
		}
		g.boxes = append(g.boxes, boxes)
	}
	for i := range n {
		boxes, bodies := g.received(i)
		held, err := g.setup.Receive(i, g.secrets[i], boxes, bodies)
		if err != nil {
			return nil, err
		}
		g.held = append(g.held, held)
	}
	return g, nil
}

// received are site i's boxes and their dealers' bodies.
func (g *sparseGroup) received(i int) (boxes, bodies [][]byte) {
	for _, s := range g.setup.Graph().Held(i) {
		boxes, bodies = append(boxes, g.boxes[s.Dealer][s.X-1]), append(bodies, g.bodies[s.Dealer])
	}
	return boxes, bodies
}

func (g *sparseGroup) certified(t testing.TB, q Query, u Survivors) Certificate {
	t.Helper()
	cert := make(Certificate, len(g.keys))
	for _, i := range g.setup.Graph().Committee()[:g.cfg.Sparse.Threshold] {
		signature, err := g.setup.SignRelease(i, g.keys[i], q, u)
		if err != nil {
			t.Fatal(err)
		}
		cert[i] = signature
	}
	return cert
}

// opened masks a vector of ones at each site of U, adds them up and begins the opening.
func (g *sparseGroup) opened(t testing.TB, q Query, u Survivors) ([]uint64, *Opening) {
	t.Helper()
	sum := make([]uint64, q.Lanes)
	for _, i := range u {
		v := make([]uint64, q.Lanes)
		for k := range v {
			v[k] = uint64(i + k)
		}
		if err := g.setup.Mask(i, g.secrets[i].Slots[q.Slot], q, v); err != nil {
			t.Fatal(err)
		}
		if err := SumPacked(sum, Pack(v, q.Bits), q.Bits); err != nil {
			t.Fatal(err)
		}
	}
	o, err := g.setup.NewOpening(q, u)
	if err != nil {
		t.Fatal(err)
	}
	return sum, o
}

func (g *sparseGroup) shares(t testing.TB, i int, q Query, u Survivors, cert Certificate) []byte {
	t.Helper()
	message, err := g.setup.OpenShares(i, g.held[i][q.Slot], q, u, cert)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func wantSum(u Survivors, lanes int) []uint64 {
	want := make([]uint64, lanes)
	for _, i := range u {
		for k := range want {
			want[k] += uint64(i + k)
		}
	}
	return want
}

func without(n int, gone ...int) Survivors {
	var u Survivors
	for i := range n {
		if !slices.Contains(gone, i) {
			u = append(u, i)
		}
	}
	return u
}

// TestSparseOpens: with sites missing from U and from the helpers, the sum of U is opened
// exactly, as soon as each secret has T shares and no sooner.
func TestSparseOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("70 sites: seconds of processor time")
	}
	g := sharedSparse(t)
	for _, gone := range [][]int{{0, 13, 69}, nil, {5, 6, 7, 8, 9, 60}} {
		u := without(70, gone...)
		q := Query{Slot: 1, Context: labelled("sparse", len(gone)), Bits: 40, Lanes: 1500}
		cert := g.certified(t, q, u)
		sum, o := g.opened(t, q, u)
		masked := slices.Clone(sum)
		for _, i := range u {
			if o.Ready() {
				break
			}
			if e, ok := errors.AsType[*NotReadyError](o.Unmask(sum)); !ok || !slices.Equal(sum, masked) {
				t.Fatalf("opened with %d helpers: %v", o.Helpers(), e)
			}
			if err := o.Add(i, g.shares(t, i, q, u, cert)); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Unmask(sum); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sum, wantSum(u, q.Lanes)) {
			t.Fatalf("without %v: another sum", gone)
		}
	}
}

// TestSparseWrongShare: a helper's wrong share opens nothing; with its dealer's body it is named
// and forgotten, without it the body is asked for, and the sum is right in the end.
func TestSparseWrongShare(t *testing.T) {
	g := sharedSparse(t)
	u := without(70, 3)
	q := Query{Slot: 0, Context: labelled("wrong share"), Bits: 32, Lanes: 10}
	cert := g.certified(t, q, u)
	sum, o := g.opened(t, q, u)
	masked := slices.Clone(sum)
	liar := g.setup.Graph().Holders(20)[0]
	for i := range 70 {
		message := g.shares(t, i, q, u, cert)
		if i == liar {
			at := slices.IndexFunc(g.setup.Graph().Held(i), func(s Share) bool { return s.Dealer == 20 })
			end := len(message) - 32*(len(g.setup.Graph().Held(i))-at-1)
			copy(message[end-32:end], plusOne(t, message[end-32:end]))
		}
		if i == liar || i != 3 {
			if err := o.Add(i, message); err != nil {
				t.Fatal(err)
			}
		}
	}
	var asked *BodyError
	if err := o.Unmask(sum); !errors.As(err, &asked) || asked.Dealer != 20 || !slices.Equal(sum, masked) {
		t.Fatalf("a wrong share of site 20's secret gave %v", err)
	}
	var bad *SiteError
	if err := o.Commit(20, g.bodies[21]); !errors.As(err, &bad) || bad.Site != 20 {
		t.Fatalf("another site's body was believed: %v", err)
	}
	if err := o.Unmask(sum); !errors.As(err, &asked) {
		t.Fatalf("want the body of site 20, got %v", err)
	}
	if err := o.Commit(20, g.bodies[20]); err != nil {
		t.Fatal(err)
	}
	if err := o.Unmask(sum); !errors.As(err, &bad) || bad.Site != liar || !slices.Equal(sum, masked) {
		t.Fatalf("want site %d named, got %v", liar, err)
	}
	if err := o.Unmask(sum); err != nil || !slices.Equal(sum, wantSum(u, q.Lanes)) {
		t.Fatalf("without the liar: %v", err)
	}
}

// TestSparseCertificate: T of the committee are needed; others' signatures count for nothing, and
// nobody signs or opens a U in which a site has too few mask neighbours.
func TestSparseCertificate(t *testing.T) {
	g := sharedSparse(t)
	u := without(70)
	q := Query{Slot: 0, Context: labelled("certificate"), Bits: 32, Lanes: 1}
	cert := g.certified(t, q, u)
	if err := g.setup.CheckCertificate(q, u, cert); err != nil {
		t.Fatal(err)
	}
	committee := g.setup.Graph().Committee()
	cert[committee[0]] = nil
	for i := range 70 {
		if !slices.Contains(committee, i) {
			signature, err := g.setup.SignRelease(i, g.keys[i], q, u)
			if err != nil {
				t.Fatal(err)
			}
			cert[i] = signature
		}
	}
	var few *CertificateError
	if err := g.setup.CheckCertificate(q, u, cert); !errors.As(err, &few) || few.Have != g.cfg.Sparse.Threshold-1 {
		t.Fatalf("signatures from outside the committee counted: %v", err)
	}
	// Take away mask neighbours of site 0 until it has one too few: U is still over U_min.
	around := g.setup.Graph().Neighbours(0)
	cut := without(70, around[:len(around)-g.cfg.Sparse.MinNeighbours+1]...)
	if len(cut) < g.cfg.MinSurvivors {
		t.Fatalf("%d left", len(cut))
	}
	if _, err := g.setup.SignRelease(1, g.keys[1], q, cut); err == nil {
		t.Fatal("a U that nearly cuts a site off was signed")
	}
	if _, err := g.setup.NewOpening(q, cut); err == nil {
		t.Fatal("a U that nearly cuts a site off was opened")
	}
}

// TestSparseAnnouncements: every part of a head, a nonce and a body is bound: none can be exchanged
// or changed without being refused, and each site's nonce changes the graph.
func TestSparseAnnouncements(t *testing.T) {
	g := sharedSparse(t)
	for at := 0; at < len(g.sent[2]); at += 7 {
		if _, err := VerifyHeads(g.cfg, replace(g.sent, 2, flip(g.sent[2], at))); err == nil {
			t.Fatalf("a head with another byte %d passed", at)
		}
	}
	if _, err := VerifyHeads(g.cfg, replace(g.sent, 2, g.sent[3])); err == nil {
		t.Fatal("another site's head passed")
	}
	if _, err := g.board.Draw(replace(g.nonces, 5, flip(g.nonces[5], 0))); err == nil {
		t.Fatal("a nonce that was not committed to passed")
	}
	if _, err := g.board.Draw(replace(g.nonces, 5, g.nonces[6])); err == nil {
		t.Fatal("another site's nonce passed")
	}
	boxes, bodies := g.received(9)
	if _, err := g.setup.Receive(9, g.secrets[9], boxes, replace(bodies, 4, flip(bodies[4], 100))); err == nil {
		t.Fatal("a body that its head does not name passed")
	}
	if _, err := g.setup.Receive(9, g.secrets[9], replace(boxes, 4, boxes[5]), bodies); err == nil {
		t.Fatal("another dealer's box passed")
	}
	other := g.cfg
	other.Sparse.MinNeighbours--
	if err := other.Validate(); err == nil {
		t.Fatal("numbers that are not safe passed")
	}
	if _, err := Verify(g.cfg, g.sent); err == nil {
		t.Fatal("heads passed as announcements of the complete graph")
	}
	// A site's own nonce alone makes another transcript, and with it another seed.
	sec := g.secrets[0]
	sec.Transport[0] ^= 8
	raw, err := Announce(g.cfg, 0, sec, g.keys[0])
	if err != nil {
		t.Fatal(err)
	}
	head, _, err := g.cfg.Split(0, raw)
	if err != nil {
		t.Fatal(err)
	}
	board, err := VerifyHeads(g.cfg, replace(g.sent, 0, head))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := board.Draw(g.nonces); err == nil {
		t.Fatal("the old nonce passed under the new head")
	}
	drawn, err := board.Draw(replace(g.nonces, 0, g.cfg.Nonce(0, sec)))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(drawn.Graph().Committee(), g.setup.Graph().Committee()) {
		t.Fatal("another nonce, the same graph")
	}
	if bytes.Equal(g.cfg.Nonce(0, sec), g.cfg.Nonce(1, sec)) {
		t.Fatal("two sites' nonces of one key are the same")
	}
}

// TestSparseRestore: what everybody confirmed is read again without the bodies.
func TestSparseRestore(t *testing.T) {
	g := sharedSparse(t)
	var all [][]byte
	for i := range 70 {
		all = append(all, g.setup.Confirm(g.keys[i], i))
	}
	s, err := Restore(g.cfg, g.sent, g.nonces, all)
	if err != nil || s.Transcript() != g.setup.Transcript() {
		t.Fatalf("restored another setup: %v", err)
	}
	if _, err := Restore(g.cfg, g.sent, g.nonces, replace(all, 8, all[9])); err == nil {
		t.Fatal("a wrong confirmation passed")
	}
	if _, err := Restore(g.cfg, g.sent, nil, all); err == nil {
		t.Fatal("restored without nonces")
	}
}
