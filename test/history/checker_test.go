package history

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/failpoint"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// broken are histories in which one rule breaks.
type broken struct {
	rule string
	name string
	vary variation
	tell func(*story) // what is changed once the story is told
	also []Rule       // rules that cannot but break with it
}

func rulesOf(violations []Violation) []Rule {
	var out []Rule
	for _, v := range violations {
		out = append(out, v.Rule)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestGoodHistory: a whole study breaks nothing, and the report says what was in it.
func TestGoodHistory(t *testing.T) {
	for _, n := range []int{1, 3} {
		st := newStory(t, variation{coordinators: n})
		report, violations := st.check()
		for _, v := range violations {
			t.Error(v)
		}
		if report.Studies != 1 || report.Completed != 1 || report.Released != 2 || report.Checked != 2 || report.Slots != 2 ||
			report.Uploads != 7 || report.SurvivorSets != 2 || report.Openings != 2 || report.Entries != 14 || len(report.Unfinished) != 0 {
			t.Errorf("%d coordinators: %+v", n, report)
		}
	}
}

// TestGoodHistoryOfAStudyThatWaits: what opens a slot decides its survivors, and no entry of its
// own.
func TestGoodHistoryOfAStudyThatWaits(t *testing.T) {
	st := newStory(t, variation{waits: true})
	report, violations := st.check()
	for _, v := range violations {
		t.Error(v)
	}
	if report.Completed != 1 || report.Checked != 2 || report.Uploads != 8 || report.SurvivorSets != 2 || report.Entries != 12 {
		t.Errorf("%+v", report)
	}
}

// TestRules: each rule is found by a history in which it breaks, and no other is.
func TestRules(t *testing.T) {
	seen := map[Rule]bool{}
	for _, b := range histories() {
		seen[b.rule] = true
		t.Run(b.rule+"/"+b.name, func(t *testing.T) {
			st := newStory(t, b.vary)
			if b.tell != nil {
				b.tell(st)
			}
			_, violations := st.check()
			want := append([]Rule{b.rule}, b.also...)
			slices.Sort(want)
			if got := rulesOf(violations); !slices.Equal(got, want) {
				for _, v := range violations {
					t.Log(v)
				}
				t.Errorf("rules %q, want %q", got, want)
			}
		})
	}
	for _, rule := range []Rule{OneRelease, ChargeBeforeUpload, ChargeBeforeRelease, SurvivorsBeforeSignature, OpeningBeforeShares,
		JournalBeforeReply, SameBytes, OneQueryPerSlot, OneQuestion, OneSetPerSlot, OneOpeningPerQuery, OneKind, UnNoised,
		RightSum, NextStep, HonestEnd, Readable} {
		if !seen[rule] {
			t.Errorf("no history breaks %s", rule)
		}
	}
}

// again is the event of a label with its message changed.
func again[M proto.Message](st *story, label string, m M, change func(M)) failpoint.Event {
	e := st.moments[st.at(label)].e
	st.must(proto.Unmarshal(e.Data, m))
	change(m)
	raw, err := proto.Marshal(m)
	st.must(err)
	e.Data = raw
	return e
}

// resend adds a site's message again at the end, changed.
func resend(label string, change func(*covey.SiteMessage)) func(*story) {
	return func(st *story) { st.add("again", again(st, label, &covey.SiteMessage{}, change)) }
}

// shown adds a message of the coordinator again, changed, just before another event.
func shown(label, before string, change func(*covey.CoordinatorMessage)) func(*story) {
	return func(st *story) {
		e := again(st, label, &covey.CoordinatorMessage{}, change)
		st.insert(before, func() { st.add("again", e) })
	}
}

func flip(b []byte) { b[len(b)-1] ^= 1 }

// fresh returns the entry of a release whose noise was drawn again.
func (st *story) fresh(q int) round.Entry {
	st.vary.noise = func([32]byte) (key [32]byte) { rand.Read(key[:]); return key }
	return st.release(st.asks[q], survivorsOf[q])
}

// raw stores a command with these bytes on the first coordinator alone.
func (st *story) raw(data string) {
	st.index++
	st.store("raw", st.index, []byte(data), "/c1")
}

// lateSlot adds an opening of a query in a slot, whole but for shares.
func (st *story) lateSlot(q, slot int, u secagg.Survivors) study.Ask {
	a, err := st.plan.NewAsk(st.courseAt(q, st.asks[0].X), slot)
	st.must(err)
	st.log(round.Entry{Kind: round.EntrySurvivors, Query: q, Slot: slot, Survivors: u})
	st.log(round.Entry{Kind: round.EntryOpening, Query: q, Slot: slot, Certificate: st.certificate(a, u)})
	return a
}

func histories() []broken {
	ended := func(st *story, code covey.Code) {
		st.receive(st.members[0], "ended2", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{Study: st.id(), Code: code}}})
	}
	out := []broken{
		{rule: OneRelease, name: "noise drawn again by another leader", tell: func(st *story) {
			e := st.fresh(0)
			st.index++
			data, err := json.Marshal(map[string]any{"round": e})
			st.must(err)
			st.store("fresh", st.index, data, "/c2") // never committed
		}},
		{rule: OneRelease, name: "before either is committed", tell: func(st *story) {
			st.insert("log/released/0/0/c1/before", func() {
				e := st.fresh(0)
				data, err := json.Marshal(map[string]any{"round": e})
				st.must(err)
				st.store("fresh", st.index+1, data, "/c2")
			})
		}, also: []Rule{NextStep, RightSum}},
		{rule: OneRelease, name: "a refusal holds another", tell: func(st *story) {
			e := st.fresh(0)
			st.send(st.members[1], "refusal", 0, 0, &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: st.id(), Code: covey.Code_CODE_FINAL,
				Final: &covey.Final{Study: st.id(), Released: e.Released.Encoded, Signature: e.Released.Signature}}}})
		}},
		{rule: OneRelease, name: "signed by nobody", vary: variation{entry: func(e *round.Entry) {
			if e.Kind == round.EntryReleased {
				e.Released.Signature = make([]byte, ed25519.SignatureSize)
			}
		}}},

		{rule: ChargeBeforeUpload, name: "charged after it left", tell: func(st *story) {
			st.move("send/upload/0/0/s2", "ledger.charge/0/-1/s2/after")
			st.move("ledger.upload/0/0/s2/before", "ledger.charge/0/-1/s2/after")
			st.move("ledger.upload/0/0/s2/after", "send/upload/0/0/s2")
		}},
		{rule: ChargeBeforeUpload, name: "never charged", tell: func(st *story) { st.drop("ledger.charge/1/-1/s0") }},
		{rule: ChargeBeforeUpload, name: "charged for another query", tell: func(st *story) {
			st.moments[st.at("ledger.charge/1/-1/s0/after")].e.Query = 0
		}},

		{rule: ChargeBeforeRelease, name: "told before a quorum has it", tell: func(st *story) {
			st.move("receive/final/0/0/s3", "log/released/0/0/c2/after")
		}},
		{rule: ChargeBeforeRelease, name: "the entry charges nothing", vary: variation{entry: func(e *round.Entry) { e.Rho = 0 }}},
		{rule: ChargeBeforeRelease, name: "the next query asked before", tell: func(st *story) {
			for _, c := range []string{"c2", "c3"} {
				st.move("log/released/0/0/"+c+"/after", "log/survivors/1/1/c1/before")
			}
			st.drop("receive/final/0")
		}},
		{rule: ChargeBeforeRelease, name: "a release after the end", tell: func(st *story) {
			st.insert("log/released/1/1/c1/before", func() { st.log(round.Entry{Kind: round.EntryEnded, Code: study.CodeAborted}) })
		}, also: []Rule{HonestEnd, OneResult}},
		{rule: ChargeBeforeRelease, name: "a snapshot with what is not committed", tell: func(st *story) {
			data, err := json.Marshal(map[string]any{"studies": []round.Durable{{Body: st.body(), Releases: []round.Released{*st.released[0].Released}}}})
			st.must(err)
			st.insert("log/released/0/0/c2/before", func() {
				st.add("snapshot", failpoint.Event{Point: failpoint.Snapshot, Phase: failpoint.Before, Owner: "/c1", Data: data})
			})
		}},

		{rule: SurvivorsBeforeSignature, name: "asked before a quorum has it", tell: func(st *story) {
			st.move("receive/release/0/0/s1", "log/survivors/0/0/c2/after")
		}},
		{rule: SurvivorsBeforeSignature, name: "asked before a quorum has the slot", vary: variation{waits: true}, tell: func(st *story) {
			st.move("receive/release/1/1/s1", "log/released/0/0/c2/after")
		}},
		{rule: SurvivorsBeforeSignature, name: "not all sites", vary: variation{waits: true}, tell: shown("receive/release/1/1/s1", "receive/release/1/1/s1", func(m *covey.CoordinatorMessage) {
			m.GetRelease().Survivors = []uint32{0, 1, 3}
		})},
		{rule: SurvivorsBeforeSignature, name: "asked about another set", tell: shown("receive/release/0/0/s1", "receive/release/0/0/s1", func(m *covey.CoordinatorMessage) {
			m.GetRelease().Survivors = []uint32{0, 1, 3}
		})},
		{rule: SurvivorsBeforeSignature, name: "a set that came second", tell: func(st *story) {
			st.insert("receive/release/0/0/s0", func() {
				st.log(round.Entry{Kind: round.EntrySurvivors, Survivors: []int{0, 1, 3}})
			})
			shown("receive/release/0/0/s1", "receive/release/0/0/s1", func(m *covey.CoordinatorMessage) { m.GetRelease().Survivors = []uint32{0, 1, 3} })(st)
		}},
		{rule: SurvivorsBeforeSignature, name: "a quorum at no one time", tell: func(st *story) {
			// The second coordinator's log is cut before the first has the entry.
			i := st.at("log/survivors/0/0/c1/before")
			st.moments[i].label = "log/x"
			index := st.moments[i].e.Slot - 1
			st.move("log/survivors/0/0/c2/after", "log/x")
			st.moments = slices.Insert(st.moments, st.at("log/x"), moment{"cut", failpoint.Event{
				Point: failpoint.Log, Phase: failpoint.After, Owner: "/c2", Slot: index, Data: []byte(`{"forget":{"node":"x"}}`)}})
			st.move("log/survivors/0/0/c3/after", "log/opening/0/0/c1/before")
		}},

		{rule: OpeningBeforeShares, name: "asked before a quorum has it", tell: func(st *story) {
			st.move("receive/open/0/0/s1", "log/opening/0/0/c2/after")
		}},
		{rule: OpeningBeforeShares, name: "sent before a quorum has it", tell: func(st *story) {
			for _, label := range []string{"ledger.shares/0/0/s1/before", "ledger.shares/0/0/s1/after", "send/shares/0/0/s1"} {
				st.move(label, "log/opening/0/0/c2/after")
			}
		}},
		{rule: OpeningBeforeShares, name: "another certificate", tell: shown("receive/open/1/1/s1", "receive/open/1/1/s2", func(m *covey.CoordinatorMessage) {
			flip(m.GetOpen().Certificate[0])
		})},
		{rule: OpeningBeforeShares, name: "too few signatures", vary: variation{certificate: func(c secagg.Certificate) { c[0], c[1] = nil, nil }}},
		{rule: OpeningBeforeShares, name: "shares for a set of nobody's", tell: func(st *story) {
			st.journal(st.members[3], "shares", 1, 2)
			a := st.asks[1]
			a.Slot = 2
			st.sendShares(st.members[3], a, secagg.Survivors{1, 2, 3})
		}},

		{rule: SameBytes, name: "upload", tell: resend("send/upload/0/0/s1", func(m *covey.SiteMessage) { flip(m.GetUpload().Masked) })},
		{rule: SameBytes, name: "shares", tell: resend("send/shares/0/0/s1", func(m *covey.SiteMessage) { flip(m.GetShares().Shares) })},
		{rule: SameBytes, name: "announcement", tell: resend("send/announcement/-1/-1/s1", func(m *covey.SiteMessage) { flip(m.GetAnnouncement().Signed) })},
		{rule: SameBytes, name: "boxes", tell: resend("send/boxes/-1/-1/s1", func(m *covey.SiteMessage) { flip(m.GetBoxes().Boxes[0]) })},
		{rule: SameBytes, name: "confirmation", tell: resend("send/confirmation/-1/-1/s1", func(m *covey.SiteMessage) { flip(m.GetConfirmation().Signature) })},

		{rule: SameBytes, name: "deposits", tell: resend("send/confirmation/-1/-1/s1", func(m *covey.SiteMessage) { flip(m.GetConfirmation().Deposits) })},
		{rule: SameBytes, name: "keys", tell: func(st *story) {
			st.after(1, func() { st.sendKeys(st.members[0], st.asks[1], survivorsOf[1]) })
			resend("send/pairkeys/1/1/s0", func(m *covey.SiteMessage) { flip(m.GetPairKeys().Keys) })(st)
		}},
		{rule: SameBytes, name: "a proof", tell: func(st *story) {
			st.after(1, func() { st.sendProof(st.members[0], st.asks[1], survivorsOf[1], 2) })
			resend("send/proof of 2/1/1/s0", func(m *covey.SiteMessage) { flip(m.GetProof().Proof) })(st)
		}},

		{rule: OneQueryPerSlot, name: "an upload in the slot of another query", tell: func(st *story) {
			a, err := st.plan.NewAsk(st.courseAt(1, st.asks[1].X), 0)
			st.must(err)
			st.journal(st.members[0], "upload", 1, 0)
			st.upload(st.members[0], a, st.masked(st.members[0], a))
		}},
		{rule: OneQuestion, name: "two noises in one slot", tell: shown("receive/query/0/0/s1", "receive/query/0/0/s2", func(m *covey.CoordinatorMessage) { m.GetQuery().Sigma++ })},
		{rule: OneQuestion, name: "two sets of announcements", tell: shown("receive/deal/-1/-1/s1", "receive/deal/-1/-1/s2", func(m *covey.CoordinatorMessage) { flip(m.GetDeal().Announcements[0]) })},

		{rule: OneSetPerSlot, name: "a second signature", tell: func(st *story) {
			resend("send/signature/0/0/s1", func(m *covey.SiteMessage) {
				m.GetReleaseSignature().Signature = st.sign(st.members[1], st.asks[0], secagg.Survivors{0, 1, 2})
			})(st)
		}},
		{rule: OneSetPerSlot, name: "a refusal holds a second", tell: func(st *story) {
			st.send(st.members[1], "refusal", 0, 0, &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: st.id(), Code: covey.Code_CODE_HELD,
				Signature: st.sign(st.members[1], st.asks[0], secagg.Survivors{0, 1, 2})}}})
		}},
		{rule: OneOpeningPerQuery, name: "a second slot", vary: variation{queries: 1}, tell: func(st *story) {
			a := st.lateSlot(0, 2, survivorsOf[0])
			st.journal(st.members[0], "shares", 0, 2)
			st.sendShares(st.members[0], a, survivorsOf[0])
		}},
		{rule: OneOpeningPerQuery, name: "keys for another set than the shares", tell: func(st *story) {
			st.after(1, func() { st.sendKeys(st.members[0], st.asks[1], secagg.Survivors{0, 1, 3}) })
		}},
		{rule: OneOpeningPerQuery, name: "a proof for another set than the shares", tell: func(st *story) {
			st.after(1, func() { st.sendProof(st.members[0], st.asks[1], secagg.Survivors{0, 1, 3}, 2) })
		}},
		{rule: TrueSetup, name: "another deposit in the log", vary: variation{entry: func(e *round.Entry) {
			if e.Kind == round.EntryPrepared {
				e.Deposits = slices.Clone(e.Deposits)
				e.Deposits[1] = append([]byte{e.Deposits[1][0] ^ 1}, e.Deposits[1][1:]...)
			}
		}}},
		{rule: TrueSetup, name: "no tags in the log", vary: variation{entry: func(e *round.Entry) {
			if e.Kind == round.EntryPrepared {
				e.Tags = nil
			}
		}}},
		{rule: OneKind, name: "a key of a pair inside of the set", tell: func(st *story) {
			st.after(1, func() { st.sendKeys(st.members[0], st.asks[1], survivorsOf[1]) })
			e := &st.moments[st.at("send/pairkeys/1/1/s0")].e
			var m covey.SiteMessage
			st.must(proto.Unmarshal(e.Data, &m))
			k := m.GetPairKeys()
			k.Keys = append(k.Keys, make([]byte, 32)...)
			raw, err := proto.Marshal(&m)
			st.must(err)
			e.Data = raw
		}},
		{rule: OneEnd, name: "keys of the boxes after a confirmation", vary: variation{queries: 1}, tell: func(st *story) { st.accuse(st.members[1]) }},
		{rule: OneEnd, name: "a confirmation after keys of the boxes", vary: variation{queries: 1}, tell: func(st *story) {
			st.insert("send/confirmation/-1/-1/s1", func() { st.accuse(st.members[1]) })
		}},
		{rule: OneKind, name: "another set in the slot", vary: variation{queries: 1}, tell: func(st *story) {
			// As if the slot were the second query's: its first opening.
			a := st.lateSlot(1, 0, survivorsOf[1])
			st.journal(st.members[3], "shares", 1, 0)
			st.sendShares(st.members[3], a, survivorsOf[1])
		}},

		{rule: RightSum, name: "a site adds what its rows do not hold", vary: variation{upload: func(site int, _ study.Ask, v []int64) {
			if site == 1 {
				v[2]++
			}
		}}},
		{rule: RightSum, name: "noise of another key", vary: variation{noise: func(key [32]byte) [32]byte { key[0] ^= 1; return key }}},
		{rule: RightSum, name: "no shares were sent", tell: func(st *story) { st.drop("send/shares/1/1/s2") }},
		{rule: RightSum, name: "a deposit is false and no keys were sent", tell: falseDeposit},
		{rule: RightSum, name: "no upload was sent", tell: func(st *story) { st.drop("send/upload/1/1/s2") }},
		{rule: RightSum, name: "sites were asked something else", vary: variation{queries: 1}, tell: func(st *story) {
			for i := range 4 {
				e := &st.moments[st.at(fmt.Sprintf("receive/query/0/0/s%d", i))].e
				var m covey.CoordinatorMessage
				st.must(proto.Unmarshal(e.Data, &m))
				m.GetQuery().Sigma++
				raw, err := proto.Marshal(&m)
				st.must(err)
				e.Data = raw
			}
		}, also: []Rule{OpeningBeforeShares}},

		{rule: NextStep, name: "x does not follow", vary: variation{entry: func(e *round.Entry) {
			if e.Kind == round.EntryReleased {
				c := *e.Course
				c.X = slices.Clone(c.X)
				c.X[0] = -c.X[0]
				e.Course = &c
			}
		}}},
		{rule: NextStep, name: "sites are asked about another x", vary: variation{ask: func(a *study.Ask) {
			a.X = slices.Clone(a.X)
			a.X[0], a.X[1] = a.X[1], a.X[0]
		}}},

		{rule: OneResult, name: "two results", tell: func(st *story) { st.attestation(st.members[1], make([]byte, 64)) }},
		{rule: OneResult, name: "asked before the draft is in the log", tell: func(st *story) {
			st.move("receive/attest/-1/-1/s1", "log/drafted/0/0/c1/before")
		}},
		{rule: HonestEnd, name: "completed before sites signed", tell: func(st *story) { st.drop("log/attested") }},
		{rule: HonestEnd, name: "completed too early", vary: variation{queries: 1}, tell: func(st *story) { ended(st, covey.Code_CODE_COMPLETED) }},
		{rule: HonestEnd, name: "an end that is not in the log", vary: variation{queries: 1}, tell: func(st *story) { ended(st, covey.Code_CODE_ABORTED) }},
		{rule: HonestEnd, name: "an end without a code", vary: variation{queries: 1}, tell: func(st *story) { st.log(round.Entry{Kind: round.EntryEnded}) }},
	}
	for _, kind := range []struct{ point, message string }{
		{"approve/-1/-1", "decision"}, {"setup.announcement/-1/-1", "announcement"}, {"setup.boxes/-1/-1", "boxes"},
		{"setup.confirmation/-1/-1", "confirmation"}, {"setup.confirmed/-1/-1", "upload"},
		{"upload/0/0", "upload"}, {"result/-1/-1", "attestation"}, {"sign/0/0", "signature"}, {"shares/0/0", "shares"},
	} {
		point, _, _ := strings.Cut(kind.point, "/")
		out = append(out, broken{rule: JournalBeforeReply, name: kind.message + " before " + point, tell: func(st *story) {
			st.drop("ledger." + kind.point + "/s1/after") // begun, and never said to be durable
		}})
	}
	return append(append(out, broken{rule: JournalBeforeReply, name: "a refusal holds what is not on record", vary: variation{queries: 1}, tell: func(st *story) {
		a := st.asks[0]
		a.Slot = 1
		st.send(st.members[1], "refusal", 0, 1, &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: st.id(), Slot: 1,
			Code: covey.Code_CODE_HELD, Signature: st.sign(st.members[1], a, survivorsOf[0])}}})
	}}), slices.Concat(leakHistories(), strangeHistories())...)
}

// after puts events between a query's shares and its release.
func (st *story) after(query int, something func()) {
	st.insert(fmt.Sprintf("log/released/%d/%d/c1/before", query, query), something)
}

// falseDeposit has site 3, which the second query does without, deposit other keys than it holds.
func falseDeposit(st *story) {
	e := &st.moments[st.at("send/confirmation/-1/-1/s3")].e
	var m covey.SiteMessage
	st.must(proto.Unmarshal(e.Data, &m))
	d := m.GetConfirmation().Deposits
	for k := range d {
		d[k] ^= 1
	}
	raw, err := proto.Marshal(&m)
	st.must(err)
	e.Data = raw
	for k := range st.moments { // the log keeps what was sent
		if moment := &st.moments[k]; strings.HasPrefix(moment.label, "log/prepared/") {
			var command struct {
				Round round.Entry `json:"round"`
			}
			st.must(json.Unmarshal(moment.e.Data, &command))
			command.Round.Deposits[3] = d
			moment.e.Data, err = json.Marshal(command)
			st.must(err)
		}
	}
}

// TestOpenedWithKeysAndProofs: a sum that deposits do not open, or wrong shares, is opened again
// from the keys and proofs on the wire.
func TestOpenedWithKeysAndProofs(t *testing.T) {
	st := newStory(t, variation{})
	falseDeposit(st)
	st.after(1, func() {
		for _, m := range st.members[:3] {
			st.sendKeys(m, st.asks[1], survivorsOf[1])
		}
	})
	if report, violations := st.check(); len(violations) > 0 || report.Checked != 2 {
		t.Errorf("with keys: %+v, %v", report, violations)
	}

	st = newStory(t, variation{})
	e := &st.moments[st.at("send/shares/0/0/s1")].e
	var m covey.SiteMessage
	st.must(proto.Unmarshal(e.Data, &m))
	shares := m.GetShares().Shares
	shares[len(shares)-32] ^= 1 // of site 3's secret
	raw, err := proto.Marshal(&m)
	st.must(err)
	e.Data = raw
	if _, violations := st.check(); !slices.Equal(rulesOf(violations), []Rule{RightSum}) {
		t.Errorf("a wrong share and no proofs: %v", violations)
	}
	st.after(0, func() {
		for _, m := range st.members[:3] {
			st.sendProof(m, st.asks[0], survivorsOf[0], 3)
		}
	})
	if _, violations := st.check(); len(violations) > 0 {
		t.Errorf("a wrong share, and proofs: %v", violations)
	}
}

// body is the proposal's.
func (st *story) body() []byte {
	var command struct{ Round round.Entry }
	st.must(json.Unmarshal(st.moments[0].e.Data, &command))
	return command.Round.Body
}

// TestKilled: what a killed process had begun to write counts as perhaps written once
// its end is known, and not before.
func TestKilled(t *testing.T) {
	for _, said := range []bool{true, false} {
		st := newStory(t, variation{})
		st.drop("ledger.upload/0/0/s1/after")
		st.drop("log/survivors/0/0/c2/after")
		st.drop("log/survivors/0/0/c3/after")
		if said {
			for _, owner := range []string{"/s1", "/c2"} {
				st.insert("send/upload/0/0/s1", func() { st.add("killed "+owner, failpoint.Event{Point: Killed, Owner: owner}) })
			}
			st.move("killed /c2", "receive/release/0/0/s0")
		}
		_, violations := st.check()
		want := []Rule{JournalBeforeReply, OpeningBeforeShares, SurvivorsBeforeSignature}
		if said {
			want = nil
		}
		if got := rulesOf(violations); !slices.Equal(got, want) {
			t.Errorf("said %v: %q, want %q", said, got, want)
		}
	}
}

// TestRestoredBackup: a coordinator alone goes back behind a release, and finds the same one
// again at other places of its log: over lost entries, or, where raft wrote of its own
// over them, behind them.
func TestRestoredBackup(t *testing.T) {
	for _, over := range []bool{true, false} {
		st := newStory(t, variation{coordinators: 1})
		if over {
			st.index = st.moments[st.at("log/survivors/0/0/c1/before")].e.Slot
		}
		u := []uint32{0, 1, 2} // no site was asked about the first set
		st.log(round.Entry{Kind: round.EntrySurvivors, Survivors: []int{0, 1, 2}})
		st.receive(st.members[0], "release2", 0, 0, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{
			Study: st.id(), Survivors: u}}})
		st.log(st.released[0])
		st.finalTo(st.members[2], st.released[0])
		st.log(st.released[1])
		if _, violations := st.check(); len(violations) > 0 {
			t.Errorf("over %v: %v", over, violations)
		}
	}
}

// TestUnfinished: a study that stopped is listed, one that ended is told by code.
func TestUnfinished(t *testing.T) {
	st := newStory(t, variation{queries: 1})
	report, violations := st.check()
	if len(violations) > 0 || len(report.Unfinished) != 1 || report.Unfinished[0].Released != 1 || report.Unfinished[0].Queries != 2 {
		t.Errorf("%+v, %v", report, violations)
	}
	st.log(round.Entry{Kind: round.EntryEnded, Code: study.CodeAborted})
	st.receive(st.members[0], "ended", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{Study: st.id(), Code: covey.Code_CODE_ABORTED}}})
	if report, violations = st.check(); len(violations) > 0 || len(report.Unfinished) != 0 || report.Ended[study.CodeAborted] != 1 {
		t.Errorf("%+v, %v", report, violations)
	}
	if raw, err := json.Marshal(report); err != nil || !strings.Contains(string(raw), `"aborted":1`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestAddTellsAtOnce: Add gives what its event shows, and Close all.
func TestAddTellsAtOnce(t *testing.T) {
	st := newStory(t, variation{})
	st.drop("ledger.charge/0/-1/s2")
	c := New(st.truth)
	for _, m := range st.moments {
		if got := c.Add(m.e); (len(got) > 0) != (m.label == "send/upload/0/0/s2") {
			t.Errorf("%s: %v", m.label, got)
		}
	}
	if _, all := c.Close(); len(all) != 1 || all[0].Owner != "/s2" || all[0].Query != 0 || all[0].Study != st.plan.Digest {
		t.Errorf("%v", all)
	}
}
