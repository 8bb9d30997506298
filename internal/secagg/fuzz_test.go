package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"testing"
)

// signedBy makes the site sign what the fuzzer made, so that what is behind the signature is
// reached.
func (g *group) signedBy(site int, raw []byte) []byte {
	n := max(0, len(raw)-ed25519.SignatureSize)
	return append(bytes.Clone(raw[:n]), ed25519.Sign(g.keys[site], raw[:n])...)
}

// A parsed announcement, or head of the sparse graph, is canonical: its parts written again are its
// bytes.
func FuzzAnnouncement(f *testing.F) {
	complete, sparse := sharedGroup(f, 3), sharedSparse(f)
	for _, g := range []*group{complete, sparse} {
		for _, sign := range []bool{false, true} {
			f.Add(g.sent[1], sign)
			f.Add(g.sent[0], sign)
			f.Add(g.sent[1][:len(g.sent[1])-1], sign)
			f.Add(g.whole[1], sign)
		}
	}
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, raw []byte, sign bool) {
		if sign {
			raw = complete.signedBy(1, raw) // the keys of both
		}
		if a, err := complete.cfg.parse(1, raw); err == nil {
			again := slices.Concat(complete.cfg.header(1), a.transport.Bytes(), a.seal.Bytes(), a.secrets, a.body)
			if !bytes.Equal(again, raw[:len(raw)-ed25519.SignatureSize]) || complete.cfg.CheckAnnounced(1, raw) != nil {
				t.Fatal("an announcement of other bytes than its parts")
			}
		}
		if a, nonce, err := sparse.cfg.parseHead(1, sparse.cfg.header(1), raw); err == nil {
			again := slices.Concat(sparse.cfg.header(1), a.transport.Bytes(), a.sealHash[:], nonce, a.secrets, a.bodyHash[:])
			if !bytes.Equal(again, raw[:len(raw)-ed25519.SignatureSize]) || sparse.cfg.CheckAnnounced(1, raw) != nil {
				t.Fatal("a head of other bytes than its parts")
			}
		}
		if head, seal, body, err := sparse.cfg.Split(1, raw); err == nil && !bytes.Equal(slices.Concat(head, seal, body), raw) {
			t.Fatal("parts of another announcement")
		}
		if sparse.setup.CheckKey(1, raw) == nil && !bytes.Equal(raw, sparse.seals[1]) || sparse.setup.CheckBody(1, raw) == nil && !bytes.Equal(raw, sparse.bodies[1]) {
			t.Fatal("a key or body that the head does not name")
		}
	})
}

// What is read from a store or an announcement is written again as it was.
func FuzzStored(f *testing.F) {
	g := sharedGroup(f, 3)
	secrets, held := must(g.secrets[1].MarshalBinary()), must(g.received[1].Held[0].MarshalBinary())
	for _, raw := range [][]byte{secrets, held, g.setup.sites[1].body} {
		f.Add(raw)
		f.Add(raw[1:])
		f.Add(raw[:len(raw)-32])
		f.Add(bytes.Repeat([]byte{0xff}, len(raw)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := UnmarshalSecrets(raw)
		if err == nil && !bytes.Equal(must(s.MarshalBinary()), raw) {
			t.Fatal("other secrets")
		}
		h, err := UnmarshalSlotHeld(raw)
		if _, ok := errors.AsType[*ConfigError](err); err != nil && !ok || err == nil && !bytes.Equal(must(h.MarshalBinary()), raw) {
			t.Fatalf("other shares: %v", err)
		}
		if b, err := g.cfg.parseBody(raw); err == nil && !bytes.Equal(append(bytes.Clone(b.places), scalars(b.p)...), raw) {
			t.Fatal("other commitments")
		}
	})
}

// Whatever a box, an accusation, evidence or a statement is: only the dealer's own box opens, and
// no honest site is found guilty.
func FuzzBox(f *testing.F) {
	g := sharedGroup(f, 3)
	good := *g.box(2, 0)
	accusation := g.setup.Accusation(g.secrets[0], good)
	record := g.setup.record(0, 2, g.received[0].Public)
	for _, raw := range [][]byte{good, accusation, record, *g.box(1, 0), g.received[0].Deposits, g.received[0].Statement, {}} {
		f.Add(raw, false)
		f.Add(raw, true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, seal bool) {
		if err := g.receive(2, 0, raw); !bytes.Equal(raw, good) {
			relayed(t, "a box", err, 2)
		} else if err != nil {
			t.Fatal(err)
		}
		if seal { // by the dealer itself: named, by whoever looks
			box := g.reseal(t, 2, 0, func(plain, tags []byte) { copy(tags, raw[copy(plain, raw):]) })
			err := g.receive(2, 0, box)
			guilty, judged := g.setup.Judge(2, 0, g.setup.Accusation(g.secrets[0], box), nil)
			if err != nil {
				names(t, "a bad box", err, 2)
			}
			if judged != nil || guilty != map[bool]int{true: 2, false: 0}[err != nil] {
				t.Fatalf("%v, and %d is guilty", err, guilty)
			}
			return
		}
		for _, a := range [][]byte{raw, append(bytes.Clone(accusation[:accusationSize]), raw...)} {
			if guilty, err := g.setup.Judge(2, 0, a, nil); err != nil || guilty != 0 {
				t.Fatalf("%d is guilty, %v", guilty, err)
			}
		}
		if g.setup.Convicts(2, 0, raw, record) || g.setup.Convicts(2, 0, good, raw) {
			t.Fatal("who signed one box is convicted of two")
		}
		if g.setup.CheckStatement(0, raw, g.received[0].Statement, g.boxesFor(0)) == nil && !bytes.Equal(raw, g.received[0].Deposits) ||
			g.setup.CheckStatement(0, g.received[0].Deposits, raw, g.boxesFor(0)) == nil && !bytes.Equal(raw, g.received[0].Statement) {
			t.Fatal("a statement that its site did not sign")
		}
	})
}

// What does not open is never taken: with any shares, proof or keys of one helper a sum is the true
// one, or as it was.
func FuzzOpening(f *testing.F) {
	g := sharedGroup(f, 5)
	q, u := Query{Context: labelled("fuzz"), Bits: 64, Lanes: 1}, Survivors{0, 2, 3, 4}
	shares := g.shares(f, 2, q, u, g.certificate(f, q, u))
	proof := must(g.setup.Proof(2, 0, q, u, g.received[2].Public))
	keys := must(g.setup.Keys(2, g.secrets[2].Slots[0], g.received[2].Held[0], q, u))
	for _, raw := range [][]byte{shares, proof, keys, plusOne(f, shares[len(shares)-32:]), {}} {
		f.Add(raw, -1)
		f.Add(raw, 0)
		f.Add(raw, 64)
	}
	masked, want := g.sums(f, q, u)
	others := []int{0, 3, 4}
	kept := g.kept
	kept.Deposits = make([][]byte, 5) // so that keys are needed
	f.Fuzz(func(t *testing.T, raw []byte, at int) {
		message := raw
		if at >= 0 { // put into good shares
			message = bytes.Clone(shares)
			copy(message[at%len(message):], raw)
		}
		o := must(g.setup.NewOpening(q, u, kept))
		cert := g.certificate(t, q, u)
		for _, i := range others {
			if err := o.Add(i, g.shares(t, i, q, u, cert)); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Add(2, message); err != nil {
			names(t, "shares", err, 2)
		}
		sum := bytes.Equal(message, shares)
		for range 2 {
			v := slices.Clone(masked)
			err := o.Unmask(v)
			_, asks := errors.AsType[*KeysError](err)
			if _, ok := errors.AsType[*DealerError](err); ok || err == nil && !slices.Equal(v, want) || err != nil && !slices.Equal(v, masked) || asks && !sum || len(o.Convicted()) > 0 {
				t.Fatalf("opened %x, %v, of convicted %v", v, err, o.Convicted())
			}
			if err := o.AddProof(2, raw); err != nil {
				names(t, "a proof", err, 2)
			}
			if err := o.AddKeys(2, raw); err != nil {
				names(t, "keys", err, 2)
			}
		}
	})
}

// Ed25519 as checked has one signature for its own signer's bytes, so anything else fails, whatever
// U is asked about.
func FuzzSignatures(f *testing.F) {
	g := sharedGroup(f, 5)
	q, u := Query{Slot: 1, Context: labelled("fuzz"), Bits: 64, Lanes: 2}, Survivors{0, 1, 3, 4}
	f.Add(1, g.certificate(f, q, u)[1], []byte{0, 1, 3, 4}, 1, uint(64), 2)
	f.Add(1, g.received[1].Confirmation, []byte{0, 1, 2, 3, 4}, 0, uint(32), 1)
	f.Add(-1, []byte{}, []byte{}, -1, uint(0), 0)
	f.Add(5, make([]byte, 64), []byte{9, 9, 9, 9}, 2, uint(33), -1)
	f.Fuzz(func(t *testing.T, site int, signature, set []byte, slot int, bits uint, lanes int) {
		if g.setup.CheckConfirmation(site, signature) == nil && !bytes.Equal(signature, g.received[site].Confirmation) {
			t.Fatal("a confirmation that its site did not sign")
		}
		asked := Query{Slot: slot, Context: q.Context, Bits: bits, Lanes: lanes}
		var survivors Survivors
		for _, i := range set {
			survivors = append(survivors, int(int8(i)))
		}
		if g.setup.CheckRelease(site, asked, survivors, signature) == nil && !bytes.Equal(signature, must(g.setup.SignRelease(site, g.keys[site], asked, survivors))) {
			t.Fatal("a release that its site did not sign")
		}
		if g.setup.CheckCertificate(asked, survivors, Certificate{signature, signature, signature, signature, signature}) == nil {
			t.Fatal("one signature made a certificate")
		}
	})
}

func FuzzSumPacked(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, uint(32), uint16(1))
	f.Add(make([]byte, 35), uint(56), uint16(5))
	f.Add([]byte{1}, uint(8), uint16(1))
	f.Add([]byte{}, uint(0), uint16(1<<15))
	f.Add([]byte{1, 2, 3, 4}, uint(32), uint16(2))
	f.Fuzz(func(t *testing.T, raw []byte, bits uint, lanes uint16) {
		sum := make([]uint64, lanes)
		err := SumPacked(sum, raw, bits)
		if fits := slices.Contains(Widths, bits) && len(raw) == len(sum)*int(bits/8); fits != (err == nil) {
			t.Fatalf("%d bytes to %d numbers of %d bits: %v", len(raw), lanes, bits, err)
		}
		if err != nil {
			if _, ok := errors.AsType[*ConfigError](err); !ok || !slices.Equal(sum, make([]uint64, lanes)) {
				t.Fatalf("not a *ConfigError, or the sum is changed: %v", err)
			}
			return
		}
		if !bytes.Equal(Pack(sum, bits), raw) {
			t.Fatal("other bytes the second time")
		}
	})
}
