// Package agent is a site's daemon: it decides on proposals as its operator and its policy say, and
// passes each request about an approved study to the package that answers it (docs/protocol.md):
// internal/keyring for the setup, internal/responder for the queries. The requests come over
// internal/uplink's link.
//
// Nothing here trusts the coordinator. A study's digest is computed from the
// bytes that came; every query is checked against the plan of those bytes; what
// leaves is first charged and then stored in the ledger, and sent from there. An
// agent that is cut off at any instant and started again goes on from its data
// directory alone and sends the same bytes.
//
// # The parts
//
// A request comes to Agent.handle. Of proposals, arrivals hold what nobody may hear yet; a session
// decides. Of a study that this site takes no part in, strangers answer. Else sessions have the
// session of the study, which hands the request to its keyring.Ring or responder.Responder. Its
// summary is what stays in memory of it. Decisions are the operator's, expiry ends what has
// expired, and endings are the record of how proposals ended. Views show all of this, by
// Settings, which are agent.toml as it holds now.
//
// # The data directory
//
// agent.toml is the configuration (internal/siteconfig). The site's keys and certificate are
// internal/pki's, ledger/ is internal/ledger's, pending/ holds proposals that await the operator,
// past/ how proposals ended, arrivals.json those of the last day, cache/ rows, egress.jsonl one
// line for each message that left, notify.json notices, and agent.sock is the operator's socket.
// Directories are 0700 and files 0600, but for the two certificates, which anyone may read.
//
// # Rules
//
// Rules of docs/protocol.md about what a site does, at length. Others are in internal/keyring,
// internal/responder, internal/uplink, internal/proposals, internal/siteconfig, internal/study and
// internal/egress.
//
//   - AG-1: An agent MUST compute the digest from the proposal bytes it received, and MUST find
//     its own identity key under its own name in the roster.
//   - AG-3, L2: An approval MUST be refused if spent, reserved and asked ρ pass the population's
//     cap, over all its studies, in one transaction (relative slack 1e-12). Reserved is what
//     approved, unfinished studies may still charge; charges count forever.
//   - AG-4: At approval an agent MUST pin the data file's SHA-256 with all that its configuration
//     says of reading it (precision, names, mapping), and MUST NOT compute on another.
//   - AG-5: Each setup message, upload, signature and shares message MUST be stored before it is
//     sent, and is all that is ever sent for that request: all boxes before the first leaves, an
//     announcement in one step with the secrets that it was made of. Proofs and keys are functions
//     of what is stored.
//   - AG-14: An agent erases all of a study's secrets when the study ends. `completed` is not
//     signed. It MUST be believed only when the last query's final result is held.
//   - AG-15: A study that is over is answered, query by query, with the stored final result
//     (`final`), about the draft that the site signed with that signature, else with `left`, or
//     the decision `withdrawn` (AG-31).
//   - AG-19: An agent MUST leave a study with code `rolled_back` (23), and count its whole ρ as
//     spent, when it sees what only a later state of its own can have made and its journal does
//     not hold: (1) in a deal, an announcement for this study with its own signature that is not
//     on record; (2) among the confirmations, its own valid signature on the transcript on record,
//     where it has confirmed nothing. Anything else in its place is the coordinator's word, and no
//     evidence; (3) in a release certificate, also that of a result of
//     a query, its own valid signature on a (slot, ctx, U) that it has not signed; (4) a signed
//     result of a query whose result is not on record, with this site in U, and no upload of it on
//     record in that slot for that query (the record outlives the upload); (5) at start, a message
//     of the setup, an upload, a signature, shares or an attestation in `egress.jsonl` that is not
//     on record, or a proof or keys without the shares. Later requests of that study get
//     `rolled_back` too, but `final` for a query whose result is on record.
//   - AG-20: Each time it leaves so it MUST log one error: what was found, that the ledger is
//     older than what was sent, and what follows. Asked for more than a decision about a study not
//     on its ledger, or shown confirmations of a setup that it holds nothing of, it MUST refuse,
//     and log once a study that the ledger may be restored and what to run.
//   - AG-23: The hello MUST give the number of distinct units of the `unit` column of the site's
//     `[[dataset]]`, else of rows. A proposal with another `unit` MUST be refused with `unit`.
//   - AG-31: A rejection `withdrawn` takes an approval back. A site MUST NOT send it once it has
//     answered in the setup. It MUST first finish the study on its ledger, which frees the
//     reservation, then answer all questions of proposal and setup with that signed decision. Of a
//     study that others ended, with whatever code, it MUST NOT sign `withdrawn` or `expired`.
//   - AG-33: A site MUST NOT approve a proposal that has expired by its own clock. An approval
//     expires, too, at the proposal's `expires` but at most 90 days after it, or else 30 days after
//     it, until the site is charged for its first sum: the site MUST first finish the study on its
//     ledger, in one fsynced line that frees the reservation and bars the digest whatever its clock
//     says later, and then answer with a signed `expired`, or leave once its setup has begun there.
//   - AG-50: An approval MUST record the site's configuration of the data set, and the study MUST
//     keep to it until it ends, whatever `agent.toml` says. Of another place it MUST take only the
//     rows that were pinned.
//   - AG-55: An automatic verdict on an analyst's proposal MUST leave whole minutes after the
//     proposal came, once the rows were read to their end where they are read. Until then nothing
//     else MUST be said of the study, whatever is asked and on whatever link. A pending answer, an
//     operator's decision and a verdict that was on record leave at once, and so does the verdict
//     on a proposal that nobody signed: a coordinator sees how long sites take in every round.
//   - DEC-1, DEC-2: A site MUST sign every approval and rejection that it sends, and no pending
//     decision. A leader MUST drop one without the signature of the roster's key over this digest,
//     word and code, count it as that site's fault (`not_approved`) and go on waiting.
package agent
