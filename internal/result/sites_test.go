package result

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"

	"covey/internal/chain"
	"covey/internal/secagg"
	"covey/test/runs"
	"covey/test/texts"
)

// TestVerifySites: a result shows that the sites took part: all of them confirmed its setup, enough
// of them signed each sum's survivors, and enough of them signed the whole.
func TestVerifySites(t *testing.T) {
	p, body, signed := course(t, public, nil)
	good := made(t, p, body, signed)
	if v, err := Verify(file(t, good)); err != nil || v.Signed != 4 || !strings.Contains(rows(v)["signatures"], "4 of 5 sites signed this result") {
		t.Fatalf("%+v, %v", v, err)
	}
	setup, err := secagg.NewWitness(p.Setup(), runs.Transcript)
	if err != nil {
		t.Fatal(err)
	}
	const one = 2 + ed25519.SignatureSize
	// again packs what the sites sign of query 2 or of the whole with a change of its list.
	packed := func(of Blob, change func([][]byte)) Blob {
		all := setup.Unpacked(of)
		change(all)
		return setup.Pack(all)
	}
	keys := texts.Keys(5)
	releases, err := parseSigned(signed)
	if err != nil {
		t.Fatal(err)
	}
	ask := p.Summed(runs.Transcript, releases[1].Ask())
	all := []int{0, 1, 2, 3, 4}
	others := func(change func(q secagg.Query, u secagg.Survivors) (secagg.Query, secagg.Survivors)) Blob {
		q, u := change(ask, all)
		list := make([][]byte, 5)
		for i, key := range keys {
			if list[i], err = setup.SignRelease(i, key, q, u); err != nil {
				t.Fatal(err)
			}
		}
		return setup.Pack(list)
	}
	for name, c := range map[string]struct {
		what   string
		query  int
		change func(r *Result)
	}{
		"no certificates":  {"certificates", -1, func(r *Result) { r.Certificates = nil }},
		"one fewer":        {"certificates", -1, func(r *Result) { r.Certificates = r.Certificates[1:] }},
		"a signature less": {"certificates", 1, func(r *Result) { r.Certificates[1] = r.Certificates[1][:3*one] }},
		"one more": {"certificates", 1, func(r *Result) {
			r.Certificates[1] = append(slices.Clone(r.Certificates[1]), r.Certificates[1][3*one:]...)
		}},
		"one twice": {"certificates", 1, func(r *Result) { copy(r.Certificates[1][3*one:], r.Certificates[1][2*one:3*one]) }},
		"another order": {"certificates", 1, func(r *Result) {
			c := r.Certificates[1]
			r.Certificates[1] = slices.Concat(c[one:2*one], c[:one], c[2*one:])
		}},
		"a wrong one":     {"certificates", 1, func(r *Result) { r.Certificates[1][5] ^= 1 }},
		"a site of none":  {"certificates", 1, func(r *Result) { r.Certificates[1][3*one+1] = 9 }},
		"another query's": {"certificates", 1, func(r *Result) { r.Certificates[1] = r.Certificates[0] }},
		"of another U": {"certificates", 1, func(r *Result) {
			r.Certificates[1] = others(func(q secagg.Query, _ secagg.Survivors) (secagg.Query, secagg.Survivors) { return q, []int{0, 1, 2, 3} })
		}},
		"of another context": {"certificates", 1, func(r *Result) {
			r.Certificates[1] = others(func(q secagg.Query, u secagg.Survivors) (secagg.Query, secagg.Survivors) { q.Context[0]++; return q, u })
		}},
		"of another slot": {"certificates", 1, func(r *Result) {
			r.Certificates[1] = others(func(q secagg.Query, u secagg.Survivors) (secagg.Query, secagg.Survivors) { q.Slot++; return q, u })
		}},
		"no confirmations":   {"confirmations", -1, func(r *Result) { r.Confirmations = nil }},
		"one confirmation":   {"confirmations", -1, func(r *Result) { r.Confirmations[3] = r.Confirmations[2] }},
		"another transcript": {"confirmations", -1, func(r *Result) { r.Transcript[0]++ }},
	} {
		t.Run(name, func(t *testing.T) {
			r := made(t, p, body, signed)
			c.change(r)
			reseal(t, r)
			refuses(t, file(t, r), c.what, c.query)
		})
	}
	for name, change := range map[string]func(r *Result){
		"none":             func(r *Result) { r.SiteSignatures = nil },
		"a signature less": func(r *Result) { r.SiteSignatures = packed(r.SiteSignatures, func(l [][]byte) { l[2] = nil }) },
		"one twice":        func(r *Result) { copy(r.SiteSignatures[3*one:], r.SiteSignatures[2*one:3*one]) },
		"one more":         func(r *Result) { r.SiteSignatures = append(r.SiteSignatures, r.SiteSignatures[3*one:]...) },
		"a stranger's": func(r *Result) {
			r.SiteSignatures = packed(r.SiteSignatures, func(l [][]byte) { input, _ := r.siteInput(); l[1] = ed25519.Sign(stranger, input) })
		},
		"the coordinator's": func(r *Result) {
			r.SiteSignatures = packed(r.SiteSignatures, func(l [][]byte) { input, _ := r.signingInput(); l[0] = ed25519.Sign(keys[0], input) })
		},
		"a certificate's": func(r *Result) { r.SiteSignatures = r.Certificates[0] },
	} {
		t.Run(name, func(t *testing.T) {
			r := made(t, p, body, signed)
			change(r)
			refuses(t, file(t, r), "site_signatures", -1)
		})
	}
	// Which of the sites signed is no part of what they sign: another four are as good.
	other := made(t, p, body, signed)
	other.Certificates[1] = others(func(q secagg.Query, u secagg.Survivors) (secagg.Query, secagg.Survivors) { return q, u })
	other.Certificates[1] = packed(other.Certificates[1], func(l [][]byte) {
		l[0] = nil
		if l[4], err = setup.SignRelease(4, keys[4], ask, all); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := Verify(file(t, other)); err != nil || bytes.Equal(other.Certificates[1], good.Certificates[1]) {
		t.Error(err)
	}
}

func rows(v *Verified) map[string]string {
	out := map[string]string{}
	for _, row := range v.Rows() {
		out[row[0]] = row[1]
	}
	return out
}

// TestDraft: what sites are sent to sign, and what they fill in, is the coordinator's result, and
// one that does not verify gets no signature.
func TestDraft(t *testing.T) {
	p, body, signed := course(t, public, nil)
	r := made(t, p, body, signed)
	e := evidenceOf(t, p, signed)
	draft, err := r.Draft()
	if err != nil {
		t.Fatal(err)
	}
	if len(draft) > len(file(t, r))/2 || bytes.Contains(draft, []byte("noised\":\"")) {
		t.Errorf("a draft of %d bytes, of a file of %d", len(draft), len(file(t, r)))
	}
	var read []byte // each release lies where the one before it did: none is kept
	each := func(yield func(SignedRelease) bool) {
		for _, s := range signed {
			if read = append(read[:0], s.Encoded...); !yield(SignedRelease{read, s.Signature}) {
				return
			}
		}
	}
	attested, err := draft.Attested()
	if err != nil {
		t.Fatal(err)
	}
	list := make([][]byte, 5)
	for i, key := range texts.Keys(5) {
		other := p.Proposal.Roster[(i+1)%5].Identity
		bare, err := draft.Bare(body, e)
		if err != nil {
			t.Fatal(err)
		}
		if list[i], err = bare.Attest(p, p.Setup(), key, each, nil); err != nil || !attested(p.Proposal.Roster[i].Identity, list[i]) || attested(other, list[i]) {
			t.Fatalf("site %d: %v", i, err)
		}
	}
	certificates := e.Certificates
	e.Certificates = nil
	whole, err := draft.Complete(body, e, list, func(see func(SignedRelease, []byte) error) error {
		for i, s := range signed {
			if err := see(s, certificates[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !bytes.Equal(file(t, whole), file(t, r)) {
		t.Errorf("another file comes of the draft: %v", err)
	}
	for name, bad := range map[string]Draft{
		"nothing": nil, "null": Draft("null"), "spaced": append(slices.Clone(draft), ' '), "the whole": file(t, r),
		"another case": bytes.Replace(draft, []byte(`"name"`), []byte(`"Name"`), 1), "one key more": append([]byte(`{"x":1,`), draft[1:]...),
	} {
		if _, err := bad.Bare(body, e); err == nil {
			t.Errorf("%s is a draft", name)
		}
	}
	for name, change := range map[string]func(r *Result, e *Evidence){
		"an output":      func(r *Result, _ *Evidence) { r.Outputs["last"][0][0] += 1e-8 },
		"a name":         func(r *Result, _ *Evidence) { r.Name = "heights" },
		"the signature":  func(r *Result, _ *Evidence) { r.Signature[3] ^= 1 },
		"the chain":      func(r *Result, _ *Evidence) { r.Chain[3] ^= 1 },
		"no head":        func(r *Result, _ *Evidence) { r.ChainHead.Number = uint64(len(r.Releases)) },
		"simulated":      func(r *Result, _ *Evidence) { r.Simulated = true },
		"an approval":    func(_ *Result, e *Evidence) { e.Approvals[2] = e.Approvals[1] },
		"a certificate":  func(_ *Result, e *Evidence) { e.Certificates[2] = e.Certificates[1] },
		"another setup":  func(r *Result, _ *Evidence) { r.Transcript[0]++ },
		"a confirmation": func(_ *Result, e *Evidence) { e.Confirmations[2] = e.Confirmations[1] },
	} {
		r, e := made(t, p, body, signed), evidenceOf(t, p, signed)
		change(r, &e)
		if r.Signature[3] == made(t, p, body, signed).Signature[3] {
			reseal(t, r)
		}
		draft, err := r.Draft()
		if err != nil {
			t.Fatal(err)
		}
		bare, err := draft.Bare(body, e)
		if err == nil {
			_, err = bare.Attest(p, p.Setup(), texts.Keys(1)[0], slices.Values(signed), nil)
		}
		if err == nil {
			t.Errorf("a site signs a result with %s changed", name)
		}
	}
}

// FuzzDraft: a draft that is read is in its one form.
func FuzzDraft(f *testing.F) {
	p, body, signed := course(f, public, nil)
	draft, err := made(f, p, body, signed).Draft()
	if err != nil {
		f.Fatal(err)
	}
	e := evidenceOf(f, p, signed)
	f.Add([]byte(draft))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := Draft(raw).Bare(body, e)
		if err != nil {
			return
		}
		if again, err := r.Draft(); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%v", err)
		}
		r.Attest(p, p.Setup(), texts.Keys(1)[0], slices.Values(signed), nil) // whatever it says, nothing panics
	})
}

// TestHeadIsSigned: the head of the coordinators' chain is in what the coordinator signs of a
// result and in what sites sign.
func TestHeadIsSigned(t *testing.T) {
	p, body, signed := course(t, public, nil)
	for name, change := range map[string]func(h *chain.Head){
		"number": func(h *chain.Head) { h.Number++ },
		"link":   func(h *chain.Head) { h.Link[31] ^= 1 },
	} {
		r := made(t, p, body, signed)
		if v, err := Verify(file(t, r)); err != nil || v.ChainHead != r.ChainHead {
			t.Fatalf("%+v, %v", v, err)
		}
		change(&r.ChainHead)
		refuses(t, file(t, r), "signature", -1)
		sites := r.SiteSignatures
		reseal(t, r) // by all: now the coordinator alone
		r.SiteSignatures = sites
		refuses(t, file(t, r), "site_signatures", -1)
		if t.Failed() {
			t.Fatalf("another %s verifies", name)
		}
	}
}
