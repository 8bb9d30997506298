package round

import (
	"time"

	"covey/internal/study"
	"covey/internal/wire"
)

// Event is something that happened to a study. Committed is the only one that
// changes Durable.
type Event interface {
	// observe notes the event in live. It stands with the part of live that it changes.
	observe(*State)
}

func (Committed) observe(*State) {} // see State.apply
func (Decided) observe(*State)   {} // the leader puts it into the log, which has the verdicts

// The events. Their field Site is a roster index.
type (
	// Committed is an entry that the log holds for good.
	Committed struct{ Entry Entry }
	// Led says that this node leads from now on, with everything committed applied.
	Led struct {
		Connected, Barred []int
		Graph             Graph // nil if it is not drawn yet, or is the complete one
	}
	// Followed says that this node no longer leads.
	Followed struct{}
	// Connected is a new link of a site; whatever it was asked before, it is asked again.
	Connected struct{ Site int }
	// Disconnected is the end of a site's link.
	Disconnected struct{ Site int }
	// Barred says that a site does not come back: it is revoked.
	Barred struct{ Site int }
	// Decided is a site's verdict.
	Decided struct {
		Site    int
		Verdict study.Verdict
		Code    study.Code
	}
	// Announced is a site's signed announcement, not yet checked.
	Announced struct {
		Site   int
		Signed []byte
	}
	// Revealed is a site's nonce, checked against its announcement.
	Revealed struct {
		Site  int
		Nonce []byte
	}
	// Drawn is the graph that all announcements and nonces make; nil if they make none, because of
	// Culprit, or by itself.
	Drawn struct {
		Graph   Graph
		Culprit study.Seat
	}
	// SetupVerified says that the announcements are in order, or whose is not; nobody's where the
	// check itself failed.
	SetupVerified struct {
		Failed  bool
		Culprit study.Seat
	}
	// Dealt is a site's boxes, checked, in the order of its recipients, and what the log is to hold
	// of their tags: the tags, or on the sparse graph hashes of them.
	Dealt struct {
		Site  int
		Boxes [][]byte
		Tags  []byte
	}
	// Confirmed is a site's confirmation of the transcript, checked, and what the log is to hold of
	// its deposits: them, or on the sparse graph their hash.
	Confirmed struct {
		Site      int
		Signature []byte
		Deposits  []byte
	}
	// Recalled says that the leader has a site's tags and deposits, as the log's hashes name them.
	Recalled struct{ Site int }
	// Uploaded says that the leader holds a well-formed masked upload.
	Uploaded struct{ Site, Query, Slot int }
	// Forgotten says that the leader holds no upload of the open slot any more: what it had
	// added up holds sites outside the committed U.
	Forgotten struct{ Query, Slot int }
	// Signed is a site's release signature on the committed U, checked.
	Signed struct {
		Site, Query, Slot int
		Signature         []byte
	}
	// Shared says that the leader holds a site's shares, checked.
	Shared struct{ Site, Query, Slot int }
	// Unshared says that a site's shares turned out to be wrong when the sum was opened, and
	// count for nothing.
	Unshared struct{ Site, Query, Slot int }
	// ProofsMissing says that the shares of a dealer's secret do not make what it committed to, and
	// that the opening waits for these helpers' proofs that theirs are right.
	ProofsMissing struct {
		Query, Slot, Dealer int
		Helpers             []int
	}
	// Proved says that the leader holds a helper's proof, checked.
	Proved struct{ Site, Query, Slot int }
	// KeysMissing says that the opening waits for the keys of these survivors' pairs. Convicted are
	// the sites outside of the survivors whose tags or deposits are wrong.
	KeysMissing struct {
		Query, Slot     int
		From, Convicted []int
	}
	// TagsMissing says that the opening waits for the tags of these owners, of which this leader
	// has only the log's hashes.
	TagsMissing struct {
		Query, Slot       int
		Owners, Convicted []int
	}
	// Keyed says that the leader holds a survivor's keys, checked.
	Keyed struct{ Site, Query, Slot int }
	// OpenFailed says that the sum of the open slot was not released.
	OpenFailed struct {
		Query, Slot int
		Code        study.Code
		Culprit     study.Seat
	}
	// Attested is a site's signature on the committed draft of the result, checked.
	Attested struct {
		Site      int
		Signature []byte
	}
	// Refused is a site's no. Held is the survivor set it signed before, if the
	// signature was checked; Shared is its word that it sent shares in that slot.
	Refused struct {
		Site, Query, Slot int
		Code              study.Code
		Culprit           study.Seat // whom the site accuses
		Proven            bool       // the leader has checked what convicts Culprit
		Held              []int
		Shared            bool
		// 1 + how many releases, from the first on, it has; 0: it does not say
		Lacks int
	}
	// Adopt is a final result that a site holds and this log does not, checked
	// against the plan and the coordinator's own key.
	Adopt struct {
		Release  study.Release
		Released Released
	}
	// Expired is a deadline that was set by SetDeadline.
	Expired struct {
		Query, Slot int
		Phase       Phase
	}
	// Rested is the end of the pause that was set by SetRest.
	Rested struct{}
	// Lapsed is the time that was set by SetExpiry.
	Lapsed struct{}
	// ProposeFailed says that the log did not take the last entry.
	ProposeFailed struct{}
)

// Effect is something that the leader does.
type Effect interface{ effect() }

type (
	// Send asks or tells one site.
	Send struct {
		Site    int
		Message wire.Message
	}
	// Propose puts an entry into the log.
	Propose struct{ Entry Entry }
	// VerifySetup checks all announcements; SetupVerified answers.
	VerifySetup struct{ Announcements [][]byte }
	// DrawGraph draws the graph of the verified announcements and all nonces; Drawn answers.
	DrawGraph struct{ Nonces [][]byte }
	// Open unmasks the sum of the open slot, samples the noise once for that
	// sum, and proposes the release; OpenFailed answers if that fails.
	Open struct {
		Ask       study.Ask
		Survivors []int
	}
	// Draft makes the result of all releases, and proposes it.
	Draft struct{}
	// Drop takes the shares of helpers that proved nothing out of the opening.
	Drop struct {
		Query, Slot int
		Helpers     []int
	}
	// Doubt names a site whose word was not taken, and what it was about.
	Doubt struct {
		Site int
		Code study.Code
	}
	// Late names the sites that the open slot waits for as a deadline passes, and those that no
	// query waits for from then on, until they are back.
	Late struct {
		Query   int
		Phase   Phase
		Sites   []string
		Without []string
	}
	// SetDeadline asks for Expired after a while.
	SetDeadline struct {
		Query, Slot int
		Phase       Phase
		After       time.Duration
	}
	// SetRest asks for Rested after a while, whatever slot is open then.
	SetRest struct{ After time.Duration }
	// SetExpiry asks for Lapsed at a time, or at once if it has passed.
	SetExpiry struct{ At time.Time }
)

func (Send) effect()        {}
func (Propose) effect()     {}
func (VerifySetup) effect() {}
func (DrawGraph) effect()   {}
func (Open) effect()        {}
func (Draft) effect()       {}
func (Drop) effect()        {}
func (Doubt) effect()       {}
func (Late) effect()        {}
func (SetDeadline) effect() {}
func (SetRest) effect()     {}
func (SetExpiry) effect()   {}
