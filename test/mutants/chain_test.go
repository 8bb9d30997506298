//go:build mutants

package mutants

const (
	chainFollower = "internal/chain/follower.go"
	chainWatch    = "internal/chainwatch/watch.go"
	ledgerChain   = "internal/ledger/chain.go"
	leaderChain   = "internal/coordinator/chain.go"
)

func fed(run string) killer { return killer{pkg: "test/fed", run: run} }

// The chain of the coordinators' log, as sites follow it.
func init() {
	tables = append(tables, []mutant{
		{"chain: a link is not of the one before", 0, []edit{
			{"internal/chain/chain.go", "\th.Write(l[:])\n", ""},
		}, in("chain", "TestGolden"), killer{}},
		{"chain: another link than the kept one", 0, []edit{
			{chainFollower, "if f.fork == nil && kept != f.at.Link {", "if false {"},
		}, in("chain", "TestFollow"), killer{}},
		{"chain: another one was kept meanwhile", 0, []edit{
			{chainFollower, "last.Number > 0 && link != last.Link {", "last.Number > 0 && false {"},
		}, in("chain", "TestKeptMeanwhile"), killer{}},
		{"chain: what is kept is kept again", 0, []edit{
			{chainFollower, "\terr := f.trim()\n\treturn f.fresh, err", "\treturn f.fresh, nil"},
		}, in("chain", "TestKeptMeanwhile"), killer{}},
		{"chain: an old signature leaves before the head is kept", 0, []edit{
			{"internal/responder/release.go", "\tif err := q.s.ledger.KeepChain(); err != nil {\n\t\treturn wire.Refuse(r, q.s.owner.Store(err))\n\t}\n\treturn wire.Signature{", "\treturn wire.Signature{"},
		}, in("agent", "TestChainIsKeptBeforeOldAnswers"), killer{}},
		{"chain: old shares leave before the head is kept", 0, []edit{
			{"internal/responder/release.go", "\tif err := q.s.ledger.KeepChain(); err != nil {\n\t\treturn wire.Refuse(r, q.s.owner.Store(err))\n\t}\n\treturn wire.Shares{", "\treturn wire.Shares{"},
		}, in("agent", "TestChainIsKeptBeforeOldAnswers"), killer{}},
		{"chain: a shorter one", 0, []edit{
			{chainFollower, "case f.at.Number < last.Number:", "case false:"},
		}, in("chain", "TestFollow"), killer{}},
		{"chain: a piece is missing", 0, []edit{
			{chainFollower, "fits := s.Base == f.at || ", "fits := true || "},
		}, in("chain", "TestFollow"), killer{}},
		{"chain: without end", 0, []edit{
			{chainFollower, "if !fits || s.Base.Number+uint64(len(s.Steps)) > maxEntries {", "if !fits {"},
		}, in("chain", "TestTooLong"), killer{}},
		{"chain: a gap is forgotten", 0, []edit{
			{chainFollower, "if f.gap != nil {", "if f.gap = nil; f.gap != nil {"},
		}, in("chain", "TestFollow"), killer{}},
		{"chain: none is shown", 0, []edit{
			{chainFollower, "case !f.begun:\n\t\treturn ErrUnshown", "case !f.begun:\n\t\treturn nil"},
		}, in("chain", "TestFollow"), killer{}},
		{"chain: the base is not compared", 0, []edit{
			{chainFollower, "f.begun, f.at = true, s.Base\n\tif ok {", "f.begun, f.at = true, s.Base\n\tif false && ok {"},
		}, in("chain", "TestFollow"), killer{}},
		{"chain: a pinned head's step is lost", 0, []edit{
			{chainFollower, "if (!ok || kept.Step != step) &&", "if !ok &&"},
		}, fed("TestRestoredCoordinator"), killer{}},
		{"chain: a query is answered whatever the chain", 0, []edit{
			{"internal/responder/upload.go", "if no, ok := q.s.chained(r); !ok {\n\t\treturn no\n\t}\n\tif data == \"\" {\n\t\tq.add", "if no, ok := q.s.chained(r); !ok && no.Code == \"\" {\n\t\treturn no\n\t}\n\tif data == \"\" {\n\t\tq.add"},
		}, in("agent", "TestBrokenChain"), killer{}},
		{"chain: a set is signed whatever the chain", 0, []edit{
			{"internal/responder/release.go", "if no, ok := q.s.chained(r); !ok {\n\t\treturn no\n\t}\n\tu := ", "u := "},
		}, in("agent", "TestBrokenChain"), killer{}},
		{"chain: shares are sent whatever the chain", 0, []edit{
			{"internal/responder/release.go", "if no, ok := q.s.chained(r); !ok {\n\t\treturn no\n\t}\n\tu, certificate := ", "u, certificate := "},
		}, in("agent", "TestBrokenChain"), killer{}},
		{"chain: a head that nobody signed", 0, []edit{
			{chainWatch, "\t\treturn errUnsigned\n", ""},
		}, in("agent", "TestBrokenChain"), killer{}},
		{"chain: one that holds nothing of the study", 0, []edit{
			{chainWatch, "if err == nil && !has {", "if false && !has {"},
		}, in("agent", "TestChainHoldsWhatWasTold"), killer{}},
		{"chain: the release is not looked for", 0, []edit{
			{"internal/responder/results.go", "chain.Released(rs.s.plan.Digest, w.final.Encoded), nil", "chain.Proposed(rs.s.plan.Digest), nil"},
			{"internal/responder/results.go", "chain.Released(rs.s.plan.Digest, held.Encoded)}", "chain.Proposed(rs.s.plan.Digest)}\n\t_ = held"},
		}, in("agent", "TestChainHoldsWhatWasTold"), killer{}},
		{"chain: an answer leaves before the head is kept", 0, []edit{
			{"internal/responder/upload.go", "it was on record.\n\tif err := q.s.ledger.KeepChain(); err != nil {", "it was on record.\n\tif err := q.s.ledger.Err(); err != nil {"},
		}, in("agent", "TestChainIsKeptBeforeTheAnswer"), killer{}},
		{"chain: any head is accepted", 0, []edit{
			{chainWatch, "case v.Shown.Link != link:", "case false:"},
		}, in("agent", "TestAcceptChain"), killer{}},
		{"chain: one in order is given up", 0, []edit{
			{chainWatch, "case v.Shown == nil || !acceptable(w.follower.Check()):", "case v.Shown == nil:"},
		}, in("agent", "TestAcceptChain"), killer{}},
		{"chain: heads of an earlier link", 0, []edit{
			{"internal/uplink/uplink.go", "if u.link == l {\n\t\tu.o.Head(m)", "if true {\n\t\tu.o.Head(m)"},
		}, in("uplink", "TestHeadsInTheirOrder"), killer{}},
		{"chain: the ledger forgets what it was shown", 0, []edit{
			{ledgerChain, "if err := put(chainBucket, chainKey(e.Number), ", "if err := put(chainBucket, chainKey(1), "},
		}, in("ledger", "TestChainIsKeptByTheNextWrite"), killer{}},
		{"chain: a pin keeps what waits", 0, []edit{
			{ledgerChain, "\t\tl.shown = nil // of the chain that is given up\n", ""},
		}, in("ledger", "TestPinChain"), killer{}},
		{"chain: no head ahead of a query", 0, []edit{
			{"internal/coordinator/effects.go", "wire.Attest:\n\t\tm.show(l)\n", "wire.Attest:\n"},
		}, in("coordinator", "TestHeadComesWithEachQuery"), killer{}},
		{"chain: a release is told before it is in the chain", 0, []edit{
			{"internal/coordinator/machine.go", "if err == nil { // before a site is told what follows\n\t\tm.steps(e, s, over)\n\t}\n\tif s.Plan() != nil {\n\t\tm.run(e.Study, s, effects)\n\t}", "if s.Plan() != nil {\n\t\tm.run(e.Study, s, effects)\n\t}\n\tif err == nil {\n\t\tm.steps(e, s, over)\n\t}"},
		}, in("coordinator", "TestHeadComesWithEachQuery"), killer{}},
		{"chain: a snapshot has none", 0, []edit{
			{"internal/coordinator/snapshot.go", " Chain: m.chain,", ""},
		}, in("coordinator", "TestChainIsOfTheLog"), killer{}},
		{"chain: a repeated revocation is in it", 0, []edit{
			{"internal/coordinator/machine.go", "err == nil && !again {\n\t\t\tm.revokes", "err == nil && (again || !again) {\n\t\t\tm.revokes"},
		}, in("coordinator", "TestChainIsOfTheLog"), killer{}},
		{"chain: a repeated join is in it", 0, []edit{
			{"internal/coordinator/machine.go", "err == nil && !again {\n\t\t\tm.joins", "err == nil && (again || !again) {\n\t\t\tm.joins"},
		}, in("coordinator", "TestChainIsOfTheLog"), killer{}},
		{"chain: what waits is shown twice", 0, []edit{
			{"internal/stream/stream.go", "\t\t\tat, base = i, waits.Base\n", "\t\t\tat = i\n"},
		}, in("coordinator", "TestLongChain"), killer{}},
		{"chain: a head elsewhere is nobody's business", 0, []edit{
			{leaderChain, "\tif m.astray(l) {", "\tif false {"},
		}, in("coordinator", "TestKeptElsewhere"), killer{}},
		{"chain: a site that waits is out of the study", 0, []edit{
			{"internal/round/mend.go", "study.CodeStore, study.CodeBrokenChain:", "study.CodeStore:"},
		}, in("coordinator", "TestBrokenChainEndsNothing"), killer{}},
		{"chain: a result is signed whatever its head", 0, []edit{
			{"internal/responder/attest.go", "\t\t\treturn nil, errOffChain\n", ""},
		}, in("agent", "TestOneChainAResult"), killer{}},
		{"chain: a result is signed whatever the chain", 0, []edit{
			{"internal/responder/attest.go", "if no, ok := t.s.chained(r); !ok {\n\t\treturn no\n\t}\n", ""},
		}, in("agent", "TestAttestNeedsTheChain"), killer{}},
		{"chain: a result's head is any entry's", 0, []edit{
			{chainFollower, "return ok && before.next(s) == l, err", "return ok && before.next(s) != Link{}, err"},
		}, in("agent", "TestOneChainAResult"), killer{}},
		{"chain: a result's head is not signed", 0, []edit{
			{"internal/result/sealed.go", "rest.Digest, rest.Chain = proposal.Digest{}, proposal.Digest{}\n", "rest.Digest, rest.Chain, rest.ChainHead = proposal.Digest{}, proposal.Digest{}, chain.Head{}\n"},
		}, in("result", "TestHeadIsSigned"), killer{}},
		{"chain: a result without a head verifies", 0, []edit{
			{"internal/result/verify.go", "if r.ChainHead.Number <= uint64(len(releases)) {", "if false {"},
		}, in("result", "TestVerifyRefusesResults"), killer{}},
		{"chain: a draft is not in it", 0, []edit{
			{leaderChain, "\t\tm.chain.Append(chain.Drafted(e.Study, sha256.Sum256(e.Draft)))\n", "\t\t_ = sha256.Size\n"},
		}, in("coordinator", "TestChainIsOfTheLog"), killer{}},
		{"chain: a result's head is the present one", 0, []edit{
			{leaderChain, "return m.chain.At(m.chained[study])", "return m.chain.Head()"},
		}, in("coordinator", "TestResultIsAtItsLastRelease"), killer{}},
		{"chain: no head ahead of a draft", 0, []edit{
			{"internal/coordinator/effects.go", "case wire.Query, wire.Attest:", "case wire.Query:"},
		}, in("coordinator", "TestHeadComesWithEachQuery"), killer{}},
	})
}
