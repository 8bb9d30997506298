// Package round is the state machine of one study: decisions, setup, queries,
// retries, result (docs/protocol.md). It is pure: Step takes a state and an event, and returns
// effects. Deadlines are events; randomness, sums, the verification of signatures and the network
// belong to internal/coordinator, which runs the effects on the leader and none of them on a
// follower.
//
// What must survive a crash is in Durable and changes only by a Committed
// event. Everything else is what the leader has seen since it began to lead: a
// crash loses it, and the sites are asked again and answer with the same bytes.
//
// What belongs to one status is in one file: what the leader has seen then, the events that change
// it, what sites are asked, and what is proposed to the log. These are approval.go, setup.go,
// slot.go with held.go and opening.go, and result.go. The rest is about all of them: live.go
// (links), prompt.go, refusal.go, waiting.go, deadline.go.
//
// # Rules
//
// The rules of docs/protocol.md about the coordinator's side of a study, at length;
// internal/coordinator keeps them with this package.
//
//   - R1, O3: U MUST be committed before a release signature is asked for, and U's certificate
//     before a share is.
//   - R2: A slot whose opening is committed MUST NOT be abandoned: its shares may be out. If keys
//     or tags are still missing at their deadline and a site is caught (A60), the study MUST end
//     with its name.
//   - R3: The first committed release of a query wins; a second changes nothing.
//   - R4: With `on_dropout = "wait"` the entry that opens a slot, the setup's or a release,
//     commits all sites as its U. The log MUST NOT take another, whatever a site says it holds.
//   - R5: U MUST have at least U_min sites.
//   - R6: Retries are bounded by the spare slots.
//   - R7: A coordinator that lost its place MUST adopt (1) the signed result of the open query
//     that a site shows, if it fits the plan and its history and has its certificate; (2) with
//     `on_dropout = "continue"`, once U_min sites have answered in the open slot, the U that more
//     than b sites say, each with its signature, they signed there. What up to b sites say MUST
//     choose no U, and a site whose word was not taken is at fault (`held`). b = min(η, 2T-K-1) is
//     what can be corrupt of the K sites whose signatures count, T of them a certificate; on the
//     complete graph K = N, T = q, b = η. If c ≤ b sites say so and s signers have not answered, U
//     may be certified when c+s+b ≥ T (docs/adr/0011-held-survivors.md). The leader then MUST wait
//     until one more site says so, or the silent ones have answered otherwise. After the upload
//     deadline it MAY choose another U if U_min sites have answered and sent no shares in the slot
//     (as O9). Else it waits for sites that sent shares and are away, and its status names them.
//   - R8: The charge and the noised answer MUST be one log entry, committed before anyone outside
//     is told.
//   - R9, O2: Nothing un-noised and no masked upload MUST be in the log, a snapshot, a log line, a
//     metric, an error or a page.
//   - R10, O1: Noise MUST NOT be sampled in Apply: the leader samples, then proposes the noised
//     answer. Its noise, and a choice among candidates, MUST be a function of the opened lanes,
//     ctx and H(U).
//   - R11: With central noise a release MUST differ from the exact sum by what the law of σ could
//     have drawn (N11).
//   - R12: Noise MUST be added in Z_2^b before lifting.
//   - R13: A site's message that fails a check MUST change nothing and be counted as that site's
//     fault.
//   - R14: The leader MAY add uploads up as they come and keep the sum alone. An upload that comes
//     while a U is on its way to the log MUST stay out unless U has its site. A sum with a site
//     outside the committed U MUST be forgotten and asked for again.
//   - R15: With `on_dropout = "wait"` U MAY be signed, its certificate committed and shares asked
//     for while uploads are under way: no other U can replace it, and no key of a pair ever leaves.
//     With "continue" no certificate MUST be committed before U's uploads are in. No sum MUST be
//     opened before them.
//   - R16: A leader reads at most 64 messages of more than one frame at a time; one that stalls
//     for 30 s loses its link.
//   - R17: The first announcement and the first boxes that fit count; one that comes again MUST
//     change nothing. Unless the setup is whole, `prepared` MUST hold every owner's tags and every
//     site's deposits, on the sparse graph the hashes of these. A leader there that did not lead
//     the setup MUST ask each site for its own (Recall), once a link and before all else, take
//     only what has those hashes, and go on without a site as if it did not upload.
//   - R18: On a new link a leader MUST tell a finished study's end and last result to a site that
//     names it as open, and to one that does not name it, if the site's list may be incomplete or
//     the study has a result (AG-20). It SHOULD tell no other. About an unfinished study it MUST
//     ask.
//   - R19: A site that mentions an ended study MUST be told the end once a link. Lists in a hello
//     that are not whole names, or exceed 64 KiB, MUST end the link.
//   - R20: A site's refusal is believed about itself. About another site (`bad_announcement`,
//     `bad_share`, `bad_box`, `bad_confirmation`; of other codes a culprit is ignored) it MUST be
//     proven, or be the refuser's fault (`bad_refusal`): (1) `bad_announcement` by another
//     announcement of the accused, signed for this setup and not the one that this leader took;
//     (2) `bad_share` by the keys of the refuser's announcement and the accused's signed box,
//     which opened with them does not hold (A2); (3) `bad_box` by what the accused signed of
//     another box, with other tags than this leader relayed. What is shown and proves nothing, of
//     announcements and boxes, and a refusal that names nobody, MUST be on record as the
//     refuser's, with no culprit.
//   - R21: A leader MUST tell a site each release that it lacks, one at a time, each once a link
//     and slot, and ask it again.
//   - R22: `Federation.Result` MUST return a completed study's result file to a site of the roster
//     with the identity key that it has now, to an analyst as AN-10 says, and to no other caller.
//     A study that is unknown, not over or not the caller's to read MUST have one answer.
//   - R23: The draft MUST be committed before a site is asked to sign it, and the log takes one. A
//     study is completed, and its result given out, once T signatures are committed, and no site
//     MUST be waited for beyond them. A refusal ends nothing: the site is asked again on its next
//     link, and its code is shown until then.
//   - R24: A refusal that can be put right (`data`, `data_changed`, `store`, `broken_chain`) MUST
//     end no study that runs. The site MUST be asked again on its next link, and on this one after
//     a pause, until it uploads: at most once in `deadlines.round` or a minute, whichever is less,
//     whatever it says. With `on_dropout = "continue"` no query waits for a site that refused, nor
//     for one without a link that missed five deadlines for uploads in a row: U MAY be chosen once
//     every other one has uploaded. Such a study ends once fewer than U_min sites have not left it
//     for good (`left`, `rolled_back`), unless these can open its last sum.
//   - R60: A leader MUST check each box's length and signature when it comes, and take all of a
//     site's or none (`bad_box`).
//   - R61: It MUST take a confirmation only with deposits and a statement of the tags that it
//     relayed to the site (`wrong_deposit`).
//   - O4: A new leader MUST call Barrier, then go on with the open slot: agents send the same
//     bytes again, only a committed U is opened in that slot, and the log takes no second.
//   - O6: Losing a quorum stops progress, never privacy. A coordinator restored from any backup
//     MUST release one z per query and go on.
//   - O7: What a leader began (deadlines, openings, checks) MUST mean nothing once it stopped
//     leading, even in its next term.
//   - O8: A coordinator that does not lead MUST tell agents only where the leader is, and pass an
//     operator's request on at most once.
//   - O9: With `on_dropout = "continue"` a slot whose U is committed and whose certificate is not
//     MAY be given up for a spare one when its deadline has passed and at least U_min sites have
//     answered in it and sent no shares in it or in an earlier slot of the query.
//   - O10: When so many sites sent shares in a slot that the log gave up that no U_min are left,
//     the study MUST end (`held`), with no culprit.
//   - DEC-3: A decision's log entry MUST carry the signature; every coordinator MUST refuse a
//     wrong or missing one.
//   - DEC-4: Signatures MUST outlive a restart and a snapshot, and a result MUST hold all sites'
//     (`approvals`, by roster index). A verifier MUST refuse approvals that are not one of each
//     roster site over the digest.
//   - DEC-5: After an approval nothing of that site counts but a signed `withdrawn` or `expired`,
//     until the setup is complete; it ends the study with that code and the site's name.
//   - DEC-6: While sites decide, a leader MUST ask each once a link, whatever it answered.
//   - DEC-7: `expires` is in UTC and whole seconds (RFC 3339), after creation and at most 90 days
//     later. The leader MUST then end a study that not all sites have approved with `expired`, and
//     by its own clock no other, whichever entry is first in the log.
package round
