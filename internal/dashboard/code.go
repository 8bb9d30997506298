package dashboard

import "covey/internal/study"

// Meaning is what a code says to people. docs/errors.md has the same words.
type Meaning struct {
	Code        study.Code
	Means, ToDo string
}

// meanings are all codes, in the order of internal/study's.
var meanings = []Meaning{
	{study.CodeNotApproved, "The site has not approved this digest.", "Run `agent study show` there, then `approve` or `reject`."},
	{study.CodeBudget, "The site's population has too little privacy budget left.", "Propose a smaller ε, or ask the data's owner for a larger budget."},
	{study.CodeData, "The site's data set cannot be read, or has another number of units.", "`agent status` there says why. `agent check --study PROPOSAL` tries it: keep its exact figures there. A running study asks again within a minute of the data's return."},
	{study.CodeDataChanged, "The site's data is not what was approved.", "Restore the file or table: a running study asks again within a minute. If it has ended, propose again."},
	{study.CodeUnknownStudy, "This digest is unknown.", "Compare `study list` on both sides."},
	{study.CodePlanMismatch, "A query or an answer does not fit the approved plan.", "Compare versions; if they are equal, suspect the other side."},
	{study.CodeOutOfOrder, "A query or slot went backwards.", "Nothing, if it comes once after a failover. If it stays, a coordinator was restored: docs/operations.md."},
	{study.CodeForked, "A query rests on results other than those that the site was told.", "Unless the coordinator's log was repaired by hand, suspect the coordinator."},
	{study.CodeBrokenChain, "The coordinator's log does not extend the chain that the site kept. The site answers no query and signs no result.", "After a restored backup: docs/operations.md. Otherwise suspect the coordinator; the logs have the signed heads."},
	{study.CodeHeld, "The site has signed other survivors for this slot.", "Nothing after a restore: the coordinator adopts what enough sites hold. Otherwise ask the site."},
	{study.CodeFinal, "The site already holds this query's final result.", "Nothing: the coordinator adopts it. As a fault: the site showed one that the coordinator did not sign; suspect it."},
	{study.CodeBadAnnouncement, "The site's keys fail a check, or it signed two sets of them.", "Check its log and version, and whether its ledger was restored. If its identity key changed, let it join again, and propose again. If it accuses nobody, it was shown other keys than before: compare logs."},
	{study.CodeBadShare, "The site's key shares, sent or sent back, fail a check.", "Check its disk and version. A query goes on while enough others answer."},
	{study.CodeBadConfirmation, "The site's signature over the setup fails a check.", "Check its version, and what is between it and the coordinator."},
	{study.CodeBadBox, "The site's sealed shares are malformed, or it signed two sets for one site.", "Check its log and version, and whether its ledger was restored; otherwise suspect it."},
	{study.CodeBadDealer, "What the site dealt in the setup is not what it committed to. Nothing was opened.", "Check its disk and version; otherwise suspect it. Propose again without it."},
	{study.CodeWrongDeposit, "The site dropped out, and its deposit does not open its masks; the study needed an absent site.", "Bring the awaited site back next time. Check the named one's disk and version; otherwise suspect it."},
	{study.CodeBadRefusal, "The site blamed another, falsely.", "Check its version and log; otherwise suspect it."},
	{study.CodeBadCertificate, "A set of survivors came without enough valid signatures. Nothing was opened.", "Compare versions; if they are equal, report it."},
	{study.CodeTooFewSurvivors, "Fewer sites answered than the study needs: all, with on_dropout = \"wait\".", "Bring more sites back; nothing is opened below the minimum."},
	{study.CodeStore, "The site's ledger cannot be written.", "Free its disk and start the agent: a running study waits. Never restore an older ledger."},
	{study.CodeCompleted, "The study ended with its result.", "Download and verify it."},
	{study.CodeAborted, "An operator of the coordinator ended the study.", "If by mistake, propose again."},
	{study.CodeRejected, "The site's operator or policy rejected the study.", "Ask the site: `agent study show` there has the reasons."},
	{study.CodeNoScale, "Noise hides Λ, or the scales of so many columns that fewer are left than components.", "Use more units, a larger ε, fewer components (components_max), or public constants, lambda or radius."},
	{study.CodeRetriesSpent, "No spare slot is left for another try.", "Find out which sites dropped out; propose again."},
	{study.CodeInternal, "An internal check failed. Nothing was released.", "Report it, with the coordinator's log of that minute."},
	{study.CodeLeft, "The site left for good: its operator took it out, or it lost its records.", "`agent study show` there has the reason; after a lost ledger, `agent ledger recover`. The study goes on if enough are left."},
	{study.CodeRolledBack, "The site left: its ledger is older than what it had sent.", "Its ledger may lack other charges, too: stop the agent, move `ledger/` away and run `agent ledger recover --from` the latest export. Find out who restored the old files."},
	{study.CodeWithdrawn, "The site's operator took its approval back before the study began.", "Ask the site. It can join only a new proposal."},
	{study.CodeExpired, "The proposal expired before every site approved, or at the site before its first sum, at `expires` or 30 days after its approval.", "Propose again with a later `expires`; `study show` names who had not approved. If a site says so too early, its clock is wrong: `agent check` there."},
	{study.CodeRetracted, "The analyst took the study back.", "Ask the analyst."},
	{study.CodeBadSignature, "The named analyst did not sign this proposal.", "Ask the analyst: the coordinator may have altered it."},
	{study.CodeTooMany, "The site takes no more proposals now. Its limits: from one analyst 5 open, one of a name and data set, 20 in 24 hours, 3 MiB each; from all, 100 or 64 MiB that wait for its operator.", "Withdraw an open proposal, wait a day, or ask the site's operator to `approve` or `reject` those that wait. Then propose again: this proposal is over."},
	{study.CodeUnit, "The study's `unit` is not that of the site's data set.", "Use the `unit` of the sites' agent.toml."},
	{study.CodeColumns, "The site's data set does not have exactly one column of each name in the study.", "Run `agent check --study PROPOSAL` there, and keep its exact figures there."},
	{study.CodeFormat, "The site's file is not of its stated format, or a column's type is not a number.", "Run `agent check --study PROPOSAL` there, and keep its exact figures there."},
	{study.CodeBadResult, "The result does not verify at the site, or does not match its releases; or the signature is not the site's on this result.", "See its log. Compare versions; if they are equal, suspect the coordinator."},
	{study.CodeSecondResult, "The site has signed another result of this study.", "Nothing is lost while enough others sign. Unless a coordinator was restored on another kind of machine or version, suspect it: both results are evidence."},
}

// meaning of a code; a code that this version does not know is shown bare.
func meaning(code study.Code) Meaning {
	for _, m := range meanings {
		if m.Code == code {
			return m
		}
	}
	return Meaning{Code: code}
}
