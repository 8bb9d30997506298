package responder

import (
	"errors"
	"fmt"
	"testing"

	"covey/internal/clip"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestRefusalsOfTheLedger: a request that would break a rule of the ledger is refused with the code
// of that rule, and not with "internal": the fault is the requester's. This also holds for requests
// that other checks refuse first.
func TestRefusalsOfTheLedger(t *testing.T) {
	c := newStandIn(t, 3, proposal.DropoutWait)
	s, r := c.respond(), wire.Query{Study: c.plan.Digest, Ask: c.ask(c.plan.Start(), 0)}
	for name, of := range map[string]struct {
		err  error
		code study.Code
	}{
		"another upload in the slot":      {&ledger.ConflictError{What: "upload"}, study.CodePlanMismatch},
		"a charge beyond what is allowed": {&ledger.ChargeError{}, study.CodeBudget},
		"a rule":                          {&ledger.RuleError{Rule: ledger.QueryOrder}, study.CodeOutOfOrder},
		"final, and the result is gone":   {&ledger.RuleError{Rule: ledger.QueryFinal}, study.CodeOutOfOrder},
		"an erased slot":                  {ledger.ErrErased, study.CodeOutOfOrder},
		"a query that cannot be added":    {&clip.QueryError{Field: "radius"}, study.CodePlanMismatch},
		"no such secret":                  {ledger.ErrAbsent, study.CodeLeft},
		"signed":                          {&ledger.HeldError{}, study.CodeHeld},
		"anything else":                   {errors.ErrUnsupported, study.CodeInternal},
	} {
		no, ok := s.forbidden(r, fmt.Errorf("the request: %w", of.err)).(wire.Refusal)
		if !ok || no.Code != of.code || no.Study != r.Study {
			t.Errorf("%s: %q, want %q", name, no.Code, of.code)
		}
	}
}
