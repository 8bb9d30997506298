//go:build mutants

package mutants

// Proposals, approvals and their withdrawal.
func init() {
	const approval, withdraw, past = "internal/round/approval.go", "internal/agent/withdraw.go", "internal/proposals/past.go"
	tables = append(tables, []mutant{
		{"proposal, round: any verdict after an approval counts", 0, []edit{{approval,
			"return d.Verdicts[site] == study.VerdictPending || withdraws(v, code)",
			"return true"}}, in("round", "TestNothingElseFollowsAnApproval"), killer{}},
		{"proposal, round: any rejection in the setup counts", 0, []edit{{approval,
			"		return withdraws(v, code)\n",
			"		return v == study.VerdictRejected\n"}}, in("round", "TestWithdrawalAfterTheLastApproval"), killer{}},
		{"proposal, round: an expiry ends a study that began", 0, []edit{{"internal/round/entry.go",
			"e.Code == study.CodeExpired && s.Status != StatusProposed",
			"false"}}, in("round", "TestExpiryIsOfApprovals"), killer{}},
		{"proposal, round: a site that approved is asked no more", 0, []edit{{"internal/round/prompt.go",
			"			p.send(askDecision, 1,",
			"			if s.Verdicts[i] != study.VerdictPending {\n				continue\n			}\n			p.send(askDecision, 1,"}}, in("round", "TestWithdrawalIsAskedFor"), killer{}},
		{"proposal, agent: withdrawn after the setup began", 0, []edit{{withdraw,
			"begun || e.Queries > 0",
			"begun && false || e.Queries > 0"}}, in("agent", "TestTooLateToWithdraw"), killer{}},
		{"proposal, agent: a withdrawn study is only left", 0, []edit{{"internal/agent/strangers.go",
			"!ok || !withdrew(e)",
			"!ok || withdrew(e)"}}, in("agent", "TestWithdrawal"), killer{}},
		{"proposal, agent: an expired proposal is approved", 0, []edit{{"internal/agent/expiry.go",
			"!at.IsZero() && !s.agent",
			"false && !s.agent"}}, in("agent", "TestExpiredProposal"), killer{}},
		{"proposal, agent: what is over is kept without bound", 0, []edit{{past,
			"len(p.all) <= maxPast && total <= maxPastBytes",
			"total <= 1<<60"}}, in("proposals", "TestPastIsBounded"), killer{}},
		{"proposal, study: a proposal holds a duration", 0, []edit{{"internal/proposal/expiry.go",
			"p.Spec.Expires != \"\" && (!ok ||",
			"ok && (!ok ||"}}, in("proposal", "TestExpiryOfAProposal"), killer{}},
	})
}
