package agent

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// ledgerHash is of all that a site's ledger holds: every key and value of the database, and the key
// file. A transaction that finds nothing to write changes pages of the database and nothing in it.
func (s *testSite) ledgerHash() string {
	s.t.Helper()
	s.agent.work.Wait() // erasures
	h := sha256.New()
	keys, err := os.ReadFile(filepath.Join(s.dir, "ledger", "keys"))
	if err != nil {
		s.t.Fatal(err)
	}
	h.Write(keys)
	text, err := os.ReadFile(filepath.Join(s.dir, "ledger", "ledger.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	copied := filepath.Join(s.t.TempDir(), "ledger.db")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	db, err := bbolt.Open(copied, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var walk func(b *bbolt.Bucket) error
	walk = func(b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			fmt.Fprintf(h, "%q %q\n", k, v)
			if v == nil {
				return walk(b.Bucket(k))
			}
			return nil
		})
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			fmt.Fprintf(h, "%q\n", name)
			return walk(b)
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// badMessage is a request with one field wrong, and the code that refuses it; "" for a word that
// gets no answer and changes nothing.
type badMessage struct {
	request wire.Message
	code    study.Code
}

// flipped is a copy of list with a bit of one byte changed.
func flipped(list [][]byte, i, at int) [][]byte {
	out := slices.Clone(list)
	out[i] = bytes.Clone(out[i])
	out[i][(at+len(out[i]))%len(out[i])] ^= 1
	return out
}

// with is a copy of list in which one is another.
func with(list [][]byte, i int, v []byte) [][]byte {
	out := slices.Clone(list)
	out[i] = v
	return out
}

// TestBadRequests: what an operator's request gets wrong is said with 400, as JSON, and changes
// nothing in the ledger.
func TestBadRequests(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s, id := c.sites[0], c.plan.Digest.String()
	// A second study, whose budget is not left, and one that was rejected.
	second, err := proposal.Propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster, c.key.Public().(ed25519.PublicKey), [32]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	want[wire.Decision](s, wire.Proposal{Body: second})
	control := Handler(s.agent)
	count := 0
	for _, r := range []struct {
		method, path, says string
		status             int
	}{
		{"GET", "/v1/studies/nothing", "nothing", 400},
		{"GET", "/v1/studies/" + id[:3], "", 400},
		{"GET", "/v1/studies/" + strings.Repeat("0", 64), "00000000", 400},
		{"GET", "/v1/studies/" + id + "0", "", 400},
		{"GET", "/v1/studies/%00", "", 400},
		{"GET", "/v1/studies/..%2f..%2fledger", "", 400},
		{"GET", "/v1/studies/" + strings.Repeat("a", 5000), "", 400},
		{"POST", "/v1/studies/nothing/approve", "nothing", 400},
		{"POST", "/v1/studies/" + strings.Repeat("1", 64) + "/approve", "", 400},
		{"POST", "/v1/studies/nothing/reject", "nothing", 400},
		{"POST", "/v1/studies/" + proposal.DigestOf(second).String() + "/approve", "", 400},
		{"GET", "/v1/nothing", "", 404},
		{"POST", "/v1/ledger", "", 405},
		{"DELETE", "/v1/studies/" + id, "", 405},
		{"GET", "/v1/studies/" + id + "/approve", "", 405},
		{"PUT", "/v1/egress", "", 405},
	} {
		before := s.ledgerHash()
		w := httptest.NewRecorder()
		control.ServeHTTP(w, httptest.NewRequest(r.method, r.path, nil))
		if w.Code != r.status || !strings.Contains(w.Body.String(), r.says) {
			t.Errorf("%s %.40s: %d %s, want %d %q", r.method, r.path, w.Code, w.Body, r.status, r.says)
		}
		var said failure
		if r.status == 400 && (json.Unmarshal(w.Body.Bytes(), &said) != nil || !said.Bad || said.Error == "" || len(said.Error) > 500) {
			t.Errorf("%s %.40s: %s", r.method, r.path, w.Body)
		}
		if s.ledgerHash() != before {
			t.Errorf("%s %.40s: the ledger changed", r.method, r.path)
		}
		count++
	}
	t.Logf("figure: %d bad inputs: requests on an agent's socket", count)
}

// TestBadMessages: whatever field of a coordinator's message is wrong, at each step of a study, the
// answer is a refusal with a code of the list, and nothing in the ledger changes.
func TestBadMessages(t *testing.T) {
	c, q := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutContinue }), wire.Query{}
	s, id, other := c.sites[0], c.plan.Digest, proposal.Digest{1}
	codes := map[study.Code]int{}
	count := 0
	refusesAll := func(stage string, all map[string]badMessage) {
		t.Helper()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			bad := all[name]
			before := s.ledgerHash()
			got := s.ask(bad.request)
			no, ok := got.(wire.Refusal)
			if bad.code == "" && got != nil || bad.code != "" && (!ok || no.Code != bad.code) {
				t.Errorf("%s, %s: %T with %+v, want the refusal %q", stage, name, got, got, bad.code)
			}
			if s.ledgerHash() != before {
				t.Errorf("%s, %s: the ledger changed", stage, name)
			}
			if bad.code != "" { // a word that is not believed is no error
				count++
			}
			codes[bad.code]++
		}
	}
	refusesAll("before a proposal", map[string]badMessage{
		"announcement": {wire.Announce{Header: wire.Header{Study: id}}, study.CodeUnknownStudy},
		"query":        {c.query(0, 0, c.plan.Start().X), study.CodeUnknownStudy},
		"signature":    {wire.Release{Header: wire.Header{Study: id}, Survivors: c.everyone()}, study.CodeUnknownStudy},
		"shares":       {wire.Open{Header: wire.Header{Study: id}, Survivors: c.everyone(), Certificate: make([][]byte, 5)}, study.CodeUnknownStudy},
		"nonce":        {wire.Reveal{Header: wire.Header{Study: id}, Announcements: make([][]byte, 5)}, study.CodeUnknownStudy},
	})
	c.approve()
	refusesAll("approved", map[string]badMessage{
		"another study":          {wire.Announce{Header: wire.Header{Study: other}}, study.CodeUnknownStudy},
		"boxes before keys":      {wire.Deal{Header: wire.Header{Study: id}, Announcements: make([][]byte, 5)}, study.CodeOutOfOrder},
		"confirm before boxes":   {wire.Confirm{Header: wire.Header{Study: id}, Boxes: make([][]byte, 5)}, study.CodeOutOfOrder},
		"confirmed before that":  {wire.Confirmed{Header: wire.Header{Study: id}, Signatures: make([][]byte, 5)}, study.CodeOutOfOrder},
		"query before all":       {c.query(0, 0, c.plan.Start().X), study.CodeOutOfOrder},
		"nonce of another graph": {wire.Reveal{Header: wire.Header{Study: id}, Announcements: make([][]byte, 5)}, study.CodeOutOfOrder},
	})
	announced := make([][]byte, 5)
	for i, site := range c.sites {
		announced[i] = want[wire.Announcement](site, wire.Announce{Header: wire.Header{Study: id}}).Signed
	}
	ask := func(list [][]byte) wire.Message {
		return wire.Deal{Header: wire.Header{Study: id}, Announcements: list}
	}
	refusesAll("announced", map[string]badMessage{
		"none":                {ask(nil), study.CodeBadAnnouncement},
		"one too few":         {ask(announced[:4]), study.CodeBadAnnouncement},
		"one too many":        {ask(append(slices.Clone(announced), announced[1])), study.CodeBadAnnouncement},
		"an empty one":        {ask(with(announced, 2, nil)), study.CodeBadAnnouncement},
		"a short one":         {ask(with(announced, 2, announced[2][:len(announced[2])-1])), study.CodeBadAnnouncement},
		"a long one":          {ask(with(announced, 2, append(bytes.Clone(announced[2]), 0))), study.CodeBadAnnouncement},
		"first byte":          {ask(flipped(announced, 2, 0)), study.CodeBadAnnouncement},
		"transport key":       {ask(flipped(announced, 2, 40)), study.CodeBadAnnouncement},
		"a commitment":        {ask(flipped(announced, 2, len(announced[2])/2)), study.CodeBadAnnouncement},
		"signature":           {ask(flipped(announced, 2, -1)), study.CodeBadAnnouncement},
		"another's":           {ask(with(announced, 2, announced[3])), study.CodeBadAnnouncement},
		"in another order":    {ask([][]byte{announced[1], announced[0], announced[2], announced[3], announced[4]}), study.CodeBadAnnouncement},
		"not this site's own": {ask(flipped(announced, 0, 40)), study.CodeBadAnnouncement},
	})
	c.all, c.boxes, c.signed = announced, make([][][]byte, 5), make([][]byte, 5)
	for i, site := range c.sites {
		c.boxes[i] = want[wire.Boxes](site, wire.Deal{Header: wire.Header{Study: id}, Announcements: c.all}).Boxes
	}
	mine := c.boxesFor(0)
	open := func(list [][]byte) wire.Message { return wire.Confirm{Header: wire.Header{Study: id}, Boxes: list} }
	refusesAll("dealt", map[string]badMessage{
		"other announcements":  {ask(with(announced, 2, announced[3])), study.CodeBadAnnouncement},
		"none":                 {open(nil), study.CodeBadBox},
		"one too few":          {open(mine[:3]), study.CodeBadBox},
		"one too many":         {open(append(slices.Clone(mine), mine[1])), study.CodeBadBox},
		"an empty one":         {open(with(mine, 1, nil)), study.CodeBadBox},
		"a short one":          {open(with(mine, 1, mine[1][:20])), study.CodeBadBox},
		"a byte":               {open(flipped(mine, 1, 30)), study.CodeBadBox},
		"the last byte":        {open(flipped(mine, 1, -1)), study.CodeBadBox},
		"a tag":                {open(flipped(mine, 1, -70)), study.CodeBadBox},
		"another dealer's":     {open(with(mine, 1, mine[2])), study.CodeBadBox},
		"for another receiver": {open(with(mine, 1, c.boxes[2][1])), study.CodeBadBox},
		"bodies":               {wire.Confirm{Header: wire.Header{Study: id}, Boxes: mine, Bodies: mine}, study.CodeBadBox},
		"a graph's nonce":      {wire.Reveal{Header: wire.Header{Study: id}, Announcements: announced}, study.CodeOutOfOrder},
		"tags before that":     {wire.Recall{Header: wire.Header{Study: id}}, study.CodeOutOfOrder},
	})
	for i, site := range c.sites {
		c.signed[i] = want[wire.Confirmation](site, wire.Confirm{Header: wire.Header{Study: id}, Boxes: c.boxesFor(i)}).Signature
	}
	said := func(list [][]byte) wire.Message {
		return wire.Confirmed{Header: wire.Header{Study: id}, Signatures: list}
	}
	refusesAll("confirming", map[string]badMessage{
		"none":            {said(nil), study.CodeBadConfirmation},
		"one too few":     {said(c.signed[:4]), study.CodeBadConfirmation},
		"one missing":     {said(with(c.signed, 3, nil)), study.CodeBadConfirmation},
		"one altered":     {said(flipped(c.signed, 3, 9)), study.CodeBadConfirmation},
		"one twice":       {said(with(c.signed, 3, c.signed[4])), study.CodeBadConfirmation},
		"its own altered": {said(flipped(c.signed, 0, 9)), study.CodeBadConfirmation},
	})
	var err error
	if c.setup, err = secagg.Verify(s.session(c).config(), c.all); err != nil {
		t.Fatal(err)
	}
	c.confirm()
	q = c.query(0, 0, c.plan.Start().X)
	asked := func(change func(*study.Ask)) wire.Message {
		bad := wire.Query{Study: id, Ask: q.Ask}
		bad.Ask.X = slices.Clone(bad.Ask.X)
		change(&bad.Ask)
		return bad
	}
	refusesAll("ready", map[string]badMessage{
		"study":         {wire.Query{Study: other, Ask: q.Ask}, study.CodeUnknownStudy},
		"query":         {asked(func(a *study.Ask) { a.Query = 1 }), study.CodePlanMismatch},
		"slot":          {asked(func(a *study.Ask) { a.Slot = c.plan.Slots }), study.CodePlanMismatch},
		"slot negative": {asked(func(a *study.Ask) { a.Slot = -1 }), study.CodePlanMismatch},
		"kind":          {asked(func(a *study.Ask) { a.Kind = study.KindMoment }), study.CodePlanMismatch},
		"round":         {asked(func(a *study.Ask) { a.Round = 7 }), study.CodePlanMismatch},
		"x NaN":         {asked(func(a *study.Ask) { a.X[0] = math.NaN() }), study.CodePlanMismatch},
		"x long":        {asked(func(a *study.Ask) { a.X = append(a.X, 0) }), study.CodePlanMismatch},
		"x none":        {asked(func(a *study.Ask) { a.X = nil }), study.CodePlanMismatch},
		"x twice":       {asked(func(a *study.Ask) { a.X[0] *= 2 }), study.CodePlanMismatch},
		"radius":        {asked(func(a *study.Ask) { a.Radius = -a.Radius }), study.CodePlanMismatch},
		"radius NaN":    {asked(func(a *study.Ask) { a.Radius = math.NaN() }), study.CodePlanMismatch},
		"grid 0":        {asked(func(a *study.Ask) { a.Grid = 0 }), study.CodePlanMismatch},
		"sigma less":    {asked(func(a *study.Ask) { a.Sigma -= a.Sigma >> 16 }), study.CodePlanMismatch},
		"center":        {asked(func(a *study.Ask) { a.Center = make([]float64, testColumns) }), study.CodePlanMismatch},
		"found":         {asked(func(a *study.Ask) { a.Found = make([]float64, testColumns) }), study.CodePlanMismatch},
		"a set first":   {wire.Release{Header: wire.Header{Study: id}, Survivors: c.everyone()}, study.CodeOutOfOrder},
		"shares first":  {wire.Open{Header: wire.Header{Study: id}, Survivors: c.everyone(), Certificate: make([][]byte, 5)}, study.CodeOutOfOrder},
		"a proof first": {wire.Prove{Header: wire.Header{Study: id}, Survivors: c.everyone(), Dealer: 2}, study.CodeOutOfOrder},
		"keys first":    {wire.Keys{Header: wire.Header{Study: id}, Survivors: c.everyone()}, study.CodeOutOfOrder},
	})
	for _, site := range c.sites {
		want[wire.Upload](site, q)
	}
	sign := func(u ...int) wire.Message { return wire.Release{Header: wire.Header{Study: id}, Survivors: u} }
	refusesAll("uploaded", map[string]badMessage{
		"another x":         {wire.Query{Study: id, Ask: func() study.Ask { a := q.Ask; a.X = slices.Clone(a.X); slices.Reverse(a.X); return a }()}, study.CodePlanMismatch},
		"U empty":           {sign(), study.CodeTooFewSurvivors},
		"U small":           {sign(0, 1, 2), study.CodeTooFewSurvivors},
		"U negative":        {sign(-1, 0, 1, 2), study.CodeTooFewSurvivors},
		"U twice the same":  {sign(0, 1, 2, 2), study.CodeTooFewSurvivors},
		"U unsorted":        {sign(3, 2, 1, 0), study.CodeTooFewSurvivors},
		"U beyond":          {sign(0, 1, 2, 5), study.CodeTooFewSurvivors},
		"U of another slot": {wire.Release{Header: wire.Header{Study: id, Slot: 1}, Survivors: c.everyone()}, study.CodeOutOfOrder},
		"U of a later one":  {wire.Release{Header: wire.Header{Study: id, Query: 1}, Survivors: c.everyone()}, study.CodeOutOfOrder},
		"U of no study":     {wire.Release{Header: wire.Header{Study: other}, Survivors: c.everyone()}, study.CodeUnknownStudy},
	})
	certificate := c.certify(q, c.everyone())
	show := func(list [][]byte) wire.Message {
		return wire.Open{Header: wire.Header{Study: id}, Survivors: c.everyone(), Certificate: list}
	}
	r, err := c.plan.NewRelease(q.Ask, c.everyone(), make([]int64, c.plan.Queries[0].Values))
	if err != nil {
		t.Fatal(err)
	}
	result := func(change func(*study.Release)) wire.Final {
		bad := r
		bad.Survivors, bad.Noised = slices.Clone(r.Survivors), slices.Clone(r.Noised)
		change(&bad)
		encoded, err := bad.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return wire.Final{Header: wire.Header{Study: id}, Encoded: encoded, Signature: ed25519.Sign(c.key, study.SigningInput(encoded)), Certificate: c.certified(bad)}
	}
	good := result(func(*study.Release) {})
	refusesAll("signed", map[string]badMessage{
		"no certificate":            {show(nil), study.CodeBadCertificate},
		"an empty one":              {show(make([][]byte, 5)), study.CodeBadCertificate},
		"too few signatures":        {show([][]byte{certificate[0], certificate[1], certificate[2], nil, nil}), study.CodeBadCertificate},
		"one altered":               {show(with(flipped(certificate, 1, 7), 0, nil)), study.CodeBadCertificate},
		"one twice":                 {show([][]byte{certificate[0], certificate[1], certificate[2], certificate[2], nil}), study.CodeBadCertificate},
		"one too many":              {show(append(slices.Clone(certificate), nil)), study.CodeBadCertificate},
		"another U":                 {wire.Open{Header: wire.Header{Study: id}, Survivors: []int{0, 1, 2, 3}, Certificate: certificate}, study.CodeBadCertificate},
		"another U to sign":         {sign(0, 1, 2, 3), study.CodeHeld},
		"of another slot":           {wire.Open{Header: wire.Header{Study: id, Slot: 1}, Survivors: c.everyone(), Certificate: certificate}, study.CodeOutOfOrder},
		"result's signature":        {wire.Final{Header: wire.Header{Study: id}, Encoded: good.Encoded, Signature: make([]byte, 64), Certificate: good.Certificate}, ""},
		"result without one":        {wire.Final{Header: wire.Header{Study: id}, Encoded: good.Encoded, Signature: nil, Certificate: good.Certificate}, ""},
		"result no release":         {wire.Final{Header: wire.Header{Study: id}, Encoded: []byte("{}"), Signature: ed25519.Sign(c.key, study.SigningInput([]byte("{}")))}, ""},
		"result of another study":   {result(func(r *study.Release) { r.Study[0] ^= 1 }), ""},
		"result of another slot":    {wire.Final{Header: wire.Header{Study: id, Slot: 1}, Encoded: good.Encoded, Signature: good.Signature, Certificate: good.Certificate}, ""},
		"result of another query":   {wire.Final{Header: wire.Header{Study: id, Query: 1}, Encoded: good.Encoded, Signature: good.Signature, Certificate: good.Certificate}, ""},
		"result of too few":         {result(func(r *study.Release) { r.Survivors = r.Survivors[:2] }), ""},
		"result with less noise":    {result(func(r *study.Release) { r.Sigma /= 2 }), ""},
		"result with little charge": {result(func(r *study.Release) { r.Rho /= 2 }), ""},
		"result with fewer values":  {result(func(r *study.Release) { r.Noised = r.Noised[1:] }), ""},
		"result of another x":       {result(func(r *study.Release) { r.X = slices.Clone(r.X); r.X[0] += 1e-3 }), ""},
		"completed too early":       {wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeCompleted}, ""},
		"the end of another study":  {wire.Ended{Header: wire.Header{Study: other}, Code: study.CodeAborted}, ""},
	})
	prove := func(dealer study.Seat, u ...int) wire.Message {
		return wire.Prove{Header: wire.Header{Study: id}, Survivors: u, Dealer: dealer}
	}
	keys := func(u ...int) wire.Message { return wire.Keys{Header: wire.Header{Study: id}, Survivors: u} }
	refusesAll("before shares", map[string]badMessage{
		"a proof": {prove(2, 0, 1, 2, 3, 4), study.CodeOutOfOrder}, "keys": {keys(0, 1, 2, 3, 4), study.CodeOutOfOrder},
		"proof for few": {prove(2, 0, 1), study.CodeTooFewSurvivors}, "keys for few": {keys(0, 1), study.CodeTooFewSurvivors},
	})
	want[wire.Shares](s, show(certificate)) // after all that the study goes on
	refusesAll("shared", map[string]badMessage{
		"a proof of nobody":     {prove(0, 0, 1, 2, 3, 4), study.CodeOutOfOrder},
		"a proof beyond":        {prove(6, 0, 1, 2, 3, 4), study.CodeOutOfOrder},
		"a proof at another U":  {prove(2, 0, 1, 2, 3), study.CodeHeld},
		"a proof, other slot":   {wire.Prove{Header: wire.Header{Study: id, Slot: 1}, Survivors: c.everyone(), Dealer: 2}, study.CodeOutOfOrder},
		"keys at another U":     {keys(0, 1, 2, 3), study.CodeHeld},
		"keys at no U":          {keys(), study.CodeTooFewSurvivors},
		"keys of another slot":  {wire.Keys{Header: wire.Header{Study: id, Slot: 1}, Survivors: c.everyone()}, study.CodeOutOfOrder},
		"keys of another query": {wire.Keys{Header: wire.Header{Study: id, Query: 1}, Survivors: c.everyone()}, study.CodeOutOfOrder},
		"keys of another study": {wire.Keys{Header: wire.Header{Study: other}, Survivors: c.everyone()}, study.CodeUnknownStudy},
	})
	want[wire.Proof](s, prove(2, 0, 1, 2, 3, 4))
	t.Logf("figure: %d bad inputs: messages to an agent", count)
	t.Logf("refusals: %v", codes)
}
