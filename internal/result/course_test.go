package result

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

var stranger = ed25519.NewKeyFromSeed(append(make([]byte, 31), 99))

// private has histograms, five sites and waits for all of them.
var private = strings.Replace(texts.Minimal, "delta", "spare_slots = 4\ndelta", 1)

// public has a public radius, goes on without sites and takes four rounds.
var public = strings.Replace(texts.Minimal, "delta", "radius = 3.0\nrounds = 4\non_dropout = \"continue\"\ndelta", 1)

// course runs a whole study of five sites of made-up answers with a strong first
// coordinate. change, where it is not nil, has each release before it is signed.
func course(t testing.TB, text string, change func(p *study.Plan, r *study.Release)) (*study.Plan, []byte, []SignedRelease) {
	t.Helper()
	return courseBy(t, nil, text, change)
}

// courseBy is course of an analyst's proposal.
func courseBy(t testing.TB, by *proposal.Party, text string, change func(p *study.Plan, r *study.Release)) (*study.Plan, []byte, []SignedRelease) {
	t.Helper()
	spec, err := proposal.ParseSpec([]byte(texts.Iterating(text)))
	if err != nil {
		t.Fatal(err)
	}
	sites := texts.Roster(1000, 2000, 3000, 4000, 5000)
	body, err := proposal.ProposeAs(by, spec, sites, nil, texts.Signer.Public().(ed25519.PublicKey), [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var signed []SignedRelease
	c := p.Start()
	var releases []study.Release
	for i, q := range p.Queries {
		a, err := p.NewAsk(c, i+min(i/2, 3)) // some slots were given up
		if err != nil {
			t.Fatal(err)
		}
		noised := make([]int64, q.Values)
		for j := range noised {
			noised[j] = int64(a.Sigma.Float() * rng.NormFloat64())
		}
		if q.Kind == study.KindPower {
			noised[0] += 20 * int64(a.Sigma.Float())
		} else {
			noised[250+i] += 15000
		}
		survivors := []int{0, 1, 2, 3, 4}
		if p.Proposal.Spec.OnDropout == proposal.DropoutContinue && i == 2 {
			survivors = []int{0, 1, 2, 4}
		}
		r, err := p.NewRelease(a, survivors, noised)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
		if change != nil {
			change(p, &r)
			// the coordinator's next names what it signed
			encoded, err := r.Encode()
			if err != nil {
				t.Fatal(err)
			}
			c.History = study.Link(encoded)
		}
		signed = append(signed, signRelease(t, r))
	}
	return p, body, signed
}

func signRelease(t testing.TB, r study.Release) SignedRelease {
	t.Helper()
	return signBytes(encoded(t, r))
}

func signReleases(t testing.TB, releases []study.Release) (all []SignedRelease) {
	for _, r := range releases {
		all = append(all, signRelease(t, r))
	}
	return all
}

// encoded is a release as it is signed.
func encoded(t testing.TB, r study.Release) []byte {
	t.Helper()
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sealedOf are a result's releases that have signatures, with these.
func sealedOf(t testing.TB, r *Result) (all []SignedRelease) {
	for i, release := range r.Releases[:min(len(r.Releases), len(r.Signatures))] {
		all = append(all, SignedRelease{encoded(t, release), r.Signatures[i]})
	}
	return all
}

func signBytes(encoded []byte) SignedRelease {
	return SignedRelease{encoded, ed25519.Sign(texts.Signer, study.SigningInput(encoded))}
}

// signResult is the result of a study of texts.Roster, as its coordinator and its sites sign it,
// whatever it says.
func signResult(t testing.TB, body []byte, signed []SignedRelease) *Result {
	t.Helper()
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	releases, err := parseSigned(signed)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(p, releases)
	if err != nil {
		t.Fatal(err)
	}
	r.put(evidenceOf(t, p, signed))
	r.Proposal, r.Signatures, r.Chain = body, signatures(signed), chainOf(r.Digest, signed)
	reseal(t, r)
	return r
}

// made is signResult as a coordinator makes it, which checks everything first.
func made(t testing.TB, p *study.Plan, body []byte, signed []SignedRelease) *Result {
	t.Helper()
	return wholly(t, p, body, signed, evidenceOf(t, p, signed))
}

// wholly is what a coordinator makes of evidence, with all numbers of its releases and the sites'
// signatures.
func wholly(t testing.TB, p *study.Plan, body []byte, signed []SignedRelease, e Evidence) *Result {
	t.Helper()
	r, err := Sign(p, body, signed, e, texts.Signer)
	if err == nil {
		r.Releases, err = parseSigned(signed)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.SiteSignatures = sitesSign(t, p, r)
	return r
}

// evidenceOf is what the sites of texts.Roster signed on the way to a result.
func evidenceOf(t testing.TB, p *study.Plan, signed []SignedRelease) Evidence {
	t.Helper()
	releases, err := parseSigned(signed)
	if err != nil {
		t.Fatal(err)
	}
	keys := texts.Keys(len(p.Proposal.Roster))
	confirmations, certificates := runs.Attest(t, p, keys, releases)
	e := Evidence{Transcript: runs.Transcript, Confirmations: Blobs(confirmations), Certificates: Blobs(certificates),
		ChainHead: chain.Head{Number: 200, Link: chain.Link{4, 2}}}
	for _, key := range keys {
		e.Approvals = append(e.Approvals, study.SignDecision(key, p.Digest, study.VerdictApproved, ""))
	}
	return e
}

// sitesSign is what the sites of texts.Roster sign of a result, packed.
func sitesSign(t testing.TB, p *study.Plan, r *Result) Blob {
	t.Helper()
	input, err := r.siteInput()
	if err != nil {
		t.Fatal(err)
	}
	setup, err := secagg.NewWitness(p.Setup(), r.Transcript)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, key := range texts.Keys(len(p.Proposal.Roster)) {
		all = append(all, ed25519.Sign(key, input))
	}
	return setup.Pack(all)
}

// reseal signs r as it is, of a coordinator and sites that mean the change.
func reseal(t testing.TB, r *Result) {
	t.Helper()
	input, err := r.signingInput()
	if err != nil {
		t.Fatal(err)
	}
	r.Signature = ed25519.Sign(texts.Signer, input)
	if p, err := study.NewPlan(r.Proposal); err == nil {
		r.SiteSignatures = sitesSign(t, p, r)
	}
}

// resealed is the file of r as it is, signed.
func resealed(t testing.TB, r *Result) []byte {
	t.Helper()
	reseal(t, r)
	return file(t, r)
}

func file(t testing.TB, r *Result) []byte {
	t.Helper()
	text, err := r.File()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// refuses wants Verify to refuse text for what and query, "" being anything.
func refuses(t *testing.T, text []byte, what string, query int) {
	t.Helper()
	v, err := Verify(text)
	bad, ok := errors.AsType[*VerifyError](err)
	if !ok || v != nil {
		t.Fatalf("Verify gave %v, %v", v, err)
	}
	if bad.What != what || bad.Query != query {
		t.Errorf("refused for %q, query %d (%v); want %q, query %d", bad.What, bad.Query, err, what, query)
	}
	if _, _, whole := Read(bytes.NewReader(text)); whole == nil || whole.Error() != err.Error() {
		t.Errorf("Read gave %v, Verify %v", whole, err)
	}
	if !strings.Contains(err.Error(), what) {
		t.Errorf("%q does not name %q", err, what)
	}
}

// parseSigned reads releases, each of which is in its one encoding: a result has no other.
func parseSigned(signed []SignedRelease) ([]study.Release, error) {
	var releases []study.Release
	for i, s := range signed {
		release, err := parseCanonical(i, s.Encoded)
		if err != nil {
			return nil, err
		}
		releases = append(releases, release)
	}
	return releases, nil
}
