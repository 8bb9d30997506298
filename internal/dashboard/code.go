package dashboard

import "covey/internal/study"

// Meaning is what a code says to people. docs/errors.md has the same words.
type Meaning struct {
	Code        study.Code
	Means, ToDo string
}

// Meanings are all codes, in the order of internal/study's.
var Meanings = []Meaning{
	{study.CodeNotApproved, "The site has not approved this study's digest.", "At the site: `agent study show`, then `approve` or `reject`."},
	{study.CodeBudget, "The site's population has too little privacy budget left for this study.", "At the site: `agent ledger show` has what is left. Propose a smaller ε, or have the data's owner raise the budget."},
	{study.CodeData, "The site's data set cannot be read, or has another number of units.", "At the site: `agent check --study` with the proposal names file, row and column."},
	{study.CodeDataChanged, "The site's data is not what was approved.", "Put the approved file back, or end the study and propose it again."},
	{study.CodeUnknownStudy, "Nothing is known of this digest.", "Look at `study list` on both sides."},
	{study.CodePlanMismatch, "A query or an answer does not fit the approved plan, and was refused.", "Compare the versions of both sides. If they are equal, treat it as an attack or a fault of the other side, and report it."},
	{study.CodeOutOfOrder, "A query or slot went backwards.", "Harmless once, after a failover. If it stays, a coordinator was restored from a backup: see docs/operations.md."},
	{study.CodeForked, "The coordinator asked on the ground of other results than those that it told the site; the site refused.", "Keep both sides' logs. Unless the coordinator's log was repaired by hand, treat it as an attack by the coordinator."},
	{study.CodeBrokenChain, "The chain of the coordinator's log does not extend the one that the site kept; the site answers no query and signs no result, and the study waits.", "If the coordinators' log was restored from a backup: docs/operations.md says how to go on. Otherwise keep both sides' logs, which have the heads and their signatures, and treat it as an attack by the coordinator."},
	{study.CodeHeld, "The site has already signed another set of survivors for this slot.", "Nothing after a coordinator was restored: it adopts the set that enough sites hold. Otherwise ask that site; its word alone counts for nothing."},
	{study.CodeFinal, "The site already holds this query's final result.", "Nothing: the coordinator adopts it."},
	{study.CodeBadAnnouncement, "The named site's keys for this study fail a check, or it signed two sets of keys.", "Look at that site's log and version, and whether its ledger was restored. If its identity key was replaced, let it join again and propose the study again. A site that accuses nobody was shown other keys than before: look at both sides' logs."},
	{study.CodeBadShare, "The named site's key shares fail a check: those that it sent, as the site that opened them proved, or those that it sent back.", "Look at that site's disk and version. In a query the study goes on while enough other sites answer."},
	{study.CodeBadConfirmation, "The named site's signature over the setup fails a check.", "Look at that site's version, and for anything between it and the coordinator."},
	{study.CodeBadBox, "The named site's sealed shares are not of the right form, or it signed two sets of them for one site.", "Look at that site's log and version, and whether its ledger was restored. If they are in order, treat it as an attack by that site."},
	{study.CodeBadDealer, "What the named site dealt in the setup is not what it committed to; all who hold shares of it proved that theirs are right. Nothing was opened.", "Treat it as an attack by that site, unless its disk or version is at fault. Propose the study again without it."},
	{study.CodeWrongDeposit, "The named site dropped out, and what it left behind for that case does not open its masks; the study could not go on without a site that is away.", "Bring the awaited site back next time; look at the named site's disk and version, or treat it as an attack by that site."},
	{study.CodeBadRefusal, "The named site blamed another site, and the coordinator has checked that this is false.", "Look at the named site's version and log. If they are in order, treat it as an attack by that site."},
	{study.CodeBadCertificate, "A set of survivors came without enough valid signatures.", "Nothing was opened. Compare versions; if they are equal, report it."},
	{study.CodeTooFewSurvivors, "Fewer sites answered than the study's privacy needs: with on_dropout = \"wait\" all of them.", "Bring more sites back; nothing is opened below the minimum."},
	{study.CodeStore, "The site's ledger cannot be written.", "Free its disk and restart the agent. Never put an older ledger back."},
	{study.CodeCompleted, "The study ended with its result.", "Download the result and verify it."},
	{study.CodeAborted, "An operator of the coordinator ended the study.", "What was charged stays charged. Propose it again if it was a mistake."},
	{study.CodeRejected, "The site's operator or its policy rejected the study.", "Ask that site: `agent study show` there has the reason, and each limit of its policy that the study exceeds."},
	{study.CodeNoScale, "No scale of the data stands out of the noise: no Λ, or those of fewer columns than there are components.", "Use more units or a larger ε, ask for fewer components (components_max with \"auto\"), or give public constants, lambda or radius."},
	{study.CodeRetriesSpent, "No spare slot is left for another try.", "Find out which sites dropped out, and propose the study again."},
	{study.CodeInternal, "An internal consistency check failed. Nothing was released.", "Keep the coordinator's log of that minute and report it."},
	{study.CodeLeft, "The site has left this study for good: its operator took it out after the setup began, or it lost its records of it.", "The study goes on without it if enough are left. `agent study show` there has the reason; `agent ledger recover` is for a lost ledger."},
	{study.CodeRolledBack, "The site's ledger is older than what it had already sent; it has left.", "`agent ledger recover` at the site. Find out who restored the old files."},
	{study.CodeWithdrawn, "The site's operator took its approval back before the study began. Nothing was charged.", "Ask that site. A study that it would join is a new proposal."},
	{study.CodeExpired, "The proposal expired before every site had approved it, or at the named site before its first sum: at `expires`, or 30 days after its approval. Nothing was charged.", "Propose it again with a later `expires`; `study show` names who had not approved."},
	{study.CodeRetracted, "The analyst who proposed the study took it back. What was charged before stays charged.", "Ask the analyst. A corrected study is a new proposal."},
	{study.CodeBadSignature, "The proposal names an analyst who did not sign it, or it was altered after it was signed. Nothing was charged.", "Ask the analyst which proposal is theirs; someone with the coordinator's place may have altered it."},
	{study.CodeTooMany, "The site takes no more proposals of this analyst for now: 5 that are open, 20 new ones in 24 hours, one open of a name and data set, 3 MiB each. Nothing was charged.", "Withdraw a proposal that is open, or wait a day."},
	{study.CodeUnit, "The study's `unit` is not the unit of the site's data set.", "Use the `unit` that the sites' data sets have in agent.toml: budgets are spent by unit."},
	{study.CodeColumns, "The site's data set does not have exactly one column of each name that the study asks for.", "At the site: `agent check --study` with the proposal names the column. Names must be the same at every site."},
	{study.CodeFormat, "The site's file is not of its stated format, or a column's type is not a number.", "At the site: `agent check --study` with the proposal names file and column."},
	{study.CodeBadResult, "The site does not sign the result: it does not verify there, or is not of the releases that the site holds. Of a signature: it is not the site's on this result.", "The site's log names the first thing that does not hold. Compare versions; if they are equal, treat it as an attack by the coordinator."},
	{study.CodeSecondResult, "The site has signed another result of this study, and signs no second.", "Nothing is lost while enough other sites sign. Unless a coordinator was restored from a backup onto another kind of machine or another version, treat it as an attack by the coordinator: both results are evidence."},
}

// meaning of a code; a code that this version does not know is shown bare.
func meaning(code study.Code) Meaning {
	for _, m := range Meanings {
		if m.Code == code {
			return m
		}
	}
	return Meaning{Code: code}
}
