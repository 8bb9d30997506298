package study

// Code says why, in a fixed vocabulary: nothing that a site or a coordinator
// says about a failure is free text, so that no data can travel in it.
type Code string

// The codes. A refusal or the end of a study carries one.
const (
	CodeNotApproved Code = "not_approved" // the site has not approved this digest
	CodeBudget      Code = "budget"       // the population's cap would be exceeded
	// the site's data set cannot be read or has another number of units
	CodeData            Code = "data"
	CodeDataChanged     Code = "data_changed"     // the rows are not those that were approved
	CodeUnknownStudy    Code = "unknown_study"    // nothing is known of this digest
	CodePlanMismatch    Code = "plan_mismatch"    // the query does not fit the plan
	CodeOutOfOrder      Code = "out_of_order"     // query or slot goes backwards
	CodeHeld            Code = "held"             // another survivor set is already signed
	CodeFinal           Code = "final"            // the query already has its final result
	CodeBadAnnouncement Code = "bad_announcement" // the culprit's announcement fails a check
	CodeBadShare        Code = "bad_share"        // the culprit's shares fail a check
	CodeBadConfirmation Code = "bad_confirmation" // the culprit's confirmation fails a check
	// the culprit's sealed box fails a check, or it signed two for one site
	CodeBadBox Code = "bad_box"
	// what the culprit dealt is not what it committed to, as all who opened it have proved
	CodeBadDealer Code = "bad_dealer"
	// the culprit's tags or deposits do not fit the keys of its masks
	CodeWrongDeposit Code = "wrong_deposit"
	// the site refused for a reason that the coordinator has checked to be false
	CodeBadRefusal      Code = "bad_refusal"
	CodeBadCertificate  Code = "bad_certificate"   // too few valid signatures on this survivor set
	CodeTooFewSurvivors Code = "too_few_survivors" // fewer than U_min
	CodeStore           Code = "store"             // the site's ledger cannot be written
	CodeCompleted       Code = "completed"         // the study ended with its result
	CodeAborted         Code = "aborted"           // the coordinator's operator ended it
	CodeRejected        Code = "rejected"          // a site's operator or policy said no
	// no Λ, or too few columns, stand out of the noise
	CodeNoScale      Code = "no_scale"
	CodeRetriesSpent Code = "retries_spent" // no spare slot is left
	CodeInternal     Code = "internal"      // a check of our own failed
	// the site left the study: its operator took it out, or it lost what it held
	CodeLeft Code = "left"
	// the site's ledger is older than what it already sent; it leaves
	CodeRolledBack Code = "rolled_back"
	// a site's operator took its approval back before the setup began
	CodeWithdrawn Code = "withdrawn"
	// not every site had approved when the proposal expired
	CodeExpired Code = "expired"
	// the analyst who proposed the study took it back
	CodeRetracted Code = "retracted"
	// the proposal names a proposer whose key has not signed it
	CodeBadSignature Code = "bad_signature"
	// the site takes no more proposals for now, of this proposer or of all
	CodeTooMany Code = "too_many"
	// the study's unit is not that of the site's data set
	CodeUnit Code = "unit"
	// the site's data set does not have the study's columns, by name
	CodeColumns Code = "columns"
	// the site's data set is not of the format it should be, or a column's type is no number
	CodeFormat Code = "format"
	// the query is of another history than the releases that the site holds
	CodeForked Code = "forked"
	// the coordinator's chain does not extend the one that the site kept; the study waits
	CodeBrokenChain Code = "broken_chain"
	// the result does not verify at the site, or is not of what the site holds
	CodeBadResult Code = "bad_result"
	// the site has signed another result of the study
	CodeSecondResult Code = "second_result"
)
