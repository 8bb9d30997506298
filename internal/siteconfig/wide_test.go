package siteconfig

import (
	"fmt"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// TestJudgeOfManyColumns: the columns that a policy lists are looked up, however many a proposer
// asks for: a walk through the list for each took an agent 20 s of a processor a proposal.
func TestJudgeOfManyColumns(t *testing.T) {
	p := Policy{Approve: ApproveWithinLimits, MaxEpsilon: 1, MaxDelta: 1}
	plan := &study.Plan{}
	for i := range proposal.MaxColumns {
		p.Columns = append(p.Columns, fmt.Sprintf("gene_%06d", i))
		plan.Proposal.Spec.Columns = append(plan.Proposal.Spec.Columns, proposal.Column{Name: p.Columns[i]})
	}
	for _, strange := range []bool{false, true} {
		if strange {
			plan.Proposal.Spec.Columns[proposal.MaxColumns-1].Name = "secret"
		}
		for _, r := range p.Judge(plan, 0) {
			if r.Rule == "columns" && r.OK == strange {
				t.Errorf("%+v", r)
			}
		}
	}
}
