//go:build failpoint

package sim

import (
	"strings"
	"testing"

	"covey/test/overlay"
)

type edit = overlay.Edit

// mutant is a build that breaks a promise.
type mutant struct {
	name  string
	edits []edit
	run   string // tests that shall find it
	rule  string // by which rule
}

var mutants = []mutant{
	{"noise sampled afresh", []edit{
		{"internal/aggregate/release.go", `	"errors"`, "\t\"crypto/rand\"\n\t\"errors\""},
		{"internal/aggregate/release.go", "key := noise.Key(", "_ = noise.Key("},
		{"internal/aggregate/release.go", "noise.NewKeyed(key)", "rand.Reader"},
	}, "TestO6RestoredBackup/continue/opening-before/released-after", "one-release"},
	{"charge after release", []edit{
		{"internal/ledger/upload.go", "				func() error { return r.charge(query, rho, true) },\n", ""},
		{"internal/ledger/final.go", "			return j.l.put(tx, resultKey,", "			if err := r.charge(query, 1e-9, true); err != nil {\n				return err\n			}\n			return j.l.put(tx, resultKey,"},
	}, "TestQuiet", "charge-before-upload"},
	{"survivors asked before they are committed", []edit{
		{"internal/round/slot.go", "	if all := everybody(s.plan); subset(all, s.live.slot.uploaded) {\n		return s.propose(",
			"	if all := everybody(s.plan); subset(all, s.live.slot.uploaded) {\n		s.Survivors = all\n		return append(s.prompts(), s.propose("},
		{"internal/round/slot.go", "Survivors: all})\n", "Survivors: all})...)\n"},
		{"internal/round/slot.go", "if s.Survivors != nil {", "if slices.Equal(e.Survivors, nil) {"},
	}, "TestQuiet", "survivors-before-signature"},
	{"journal written after the reply", []edit{
		{"internal/ledger/once.go", "package ledger\n", "package ledger\n\nimport \"time\"\n"},
		{"internal/ledger/once.go", "	if err := j.write(place{name, j.study, query, slot}, func(r *record) error { return put(r, value) }); err != nil {\n		return nil, err\n	}\n",
			"	go func() {\n		time.Sleep(time.Millisecond)\n		j.write(place{name, j.study, query, slot}, func(r *record) error { return put(r, value) })\n	}()\n"},
	}, "TestQuiet", "journal-before-reply"},
	{"shares for a second set", []edit{
		{"internal/ledger/signature.go", "		} else if ok {\n			if !s.same(query, slot, &context, survivors) {\n				return nil, &HeldError{s.signed()}\n			}\n			// A certificate",
			"		} else if ok && s.same(query, slot, &context, survivors) {\n			// A certificate"},
		{"internal/ledger/signature.go", "		if s, ok, err := r.sent(query); err != nil {\n			return nil, err\n		} else if ok && !s.same(query, slot, &context, survivors) {\n			return nil, &HeldError{s.signed()}\n		}\n", ""},
		{"internal/ledger/shares.go", "	case err != nil || !ok:\n		return nil, false, err\n	case !s.same(query, slot, context, survivors):\n		return nil, true, &HeldError{s.signed()}\n",
			"	case err != nil || !ok || !s.same(query, slot, context, survivors):\n		return nil, false, err\n"},
		{"internal/responder/upload.go", "	case !held && !shared:\n		return sent\n", "	default:\n		return sent\n	case false:\n"},
	}, "TestO6RestoredBackup/continue/survivors-before/released-before", "one-opening-per-query"},
	{"the sum in the log", []edit{
		{"internal/aggregate/release.go", "	\"errors\"\n", "	\"errors\"\n	\"fmt\"\n"},
		{"internal/aggregate/release.go", "	values := p.Queries[ask.Query].Values\n", "	values := p.Queries[ask.Query].Values\n	show(sum)\n"},
		{"internal/aggregate/release.go", "// lift returns", "var Leak func(string)\n\nfunc show(sum []uint64) { Leak(fmt.Sprint(sum)) }\n\n// lift returns"},
		{"internal/coordinator/coordinator.go", "	if all.now == nil {\n", "	aggregate.Leak = func(text string) { all.log.Debug(text) }\n	if all.now == nil {\n"},
		{"internal/coordinator/coordinator.go", "	\"covey/internal/admission\"\n", "	\"covey/internal/admission\"\n	\"covey/internal/aggregate\"\n"},
	}, "TestQuiet", "un-noised"},
	{"a share of noise left out", []edit{
		{"internal/aggregate/upload.go", "		err = AddShare(p, v, own, q, ask)\n", "		if self > 1 {\n			err = AddShare(p, v, own, q, ask)\n		}\n"},
	}, "TestKinds/distributed", "right-sum"},
	{"the answer told before it is committed", []edit{
		{"internal/coordinator/release.go", "	\"covey/internal/study\"\n", "	\"covey/internal/study\"\n	\"covey/internal/wire\"\n"},
		{"internal/coordinator/release.go", "					m.propose(state.NewReleased(released, signed, next))\n",
			"				for i := range s.Plan.Proposal.Roster {\n					m.send(digest, s, round.Send{Site: i, Message: wire.Final{Header: wire.Header{Study: digest, Query: released.Query, Slot: released.Slot}, Encoded: signed.Encoded, Signature: signed.Signature}})\n				}\n" +
				"				late := state.NewReleased(released, signed, next)\n				c.after(50*time.Millisecond, nil, func() { c.inTerm(term, func(m *leader) { m.propose(late) }) })\n"},
	}, "TestQuiet", "charge-before-release"},
}

// TestCheckerCatches builds each mutant and runs the simulation on it: the rule that it
// breaks must be reported.
func TestCheckerCatches(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			list, err := overlay.Write(t.TempDir(), m.edits)
			if err != nil {
				t.Fatal(err)
			}
			out, err := overlay.Test(t.Context(), "test/sim", m.run, "-tags", "failpoint", "-overlay", list).CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("not caught:\n%s", out)
			case !strings.Contains(string(out), m.rule+": "):
				t.Errorf("failed, but not by rule %s:\n%.3000s", m.rule, out)
			}
		})
	}
}
