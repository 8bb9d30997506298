// Package history judges a run of a federation after the fact, or while it happens: from what
// failpoints saw of every ledger, log, snapshot and message, it checks the promises that crashes
// and failovers put at risk (P1, P3 and P4; docs/protocol.md). It does not know how the run was
// made, so that a simulation and real processes end with the same checker, and shares no code with
// what it checks beyond the pure packages. The rules are listed below. Only tests use it.
package history

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Rule is the stable name of a rule.
type Rule = string

// The rules. Each comment is what holds in a good history.
const (
	// All released values of a query are the same signed bytes wherever they are met,
	// and the noise of one (query, slot, U) is never drawn twice.
	OneRelease Rule = "one-release"
	// A site's upload leaves after the query's charge is in its ledger.
	ChargeBeforeUpload Rule = "charge-before-upload"
	// A result, or the query that follows from it, reaches a site after the release
	// and its charge are durable on a quorum, and the charge is the plan's.
	ChargeBeforeRelease Rule = "charge-before-release"
	// A site is asked to sign a survivor set after that set is durable on a quorum.
	SurvivorsBeforeSignature Rule = "survivors-before-signature"
	// A site is asked for shares, and sends them, after the set's valid certificate is
	// durable on a quorum.
	OpeningBeforeShares Rule = "opening-before-shares"
	// An answer leaves after it is in the site's ledger.
	JournalBeforeReply Rule = "journal-before-reply"
	// A site's upload, shares, announcement, boxes and confirmation are the same
	// bytes every time.
	SameBytes Rule = "same-bytes"
	// A slot is for one query.
	OneQueryPerSlot Rule = "one-query-per-slot"
	// Sites are shown one set of announcements, and asked one thing a slot.
	OneQuestion Rule = "one-question"
	// A site signs one survivor set a slot.
	OneSetPerSlot Rule = "one-set-per-slot"
	// A site sends shares, and proofs and keys after them, for one slot and survivor set a query.
	OneOpeningPerQuery Rule = "one-opening-per-query"
	// A site never sends shares of both secrets of a dealer in a slot, nor a key of a pair inside
	// of the survivors.
	OneKind Rule = "one-kind"
	// What the log keeps of a setup is what the sites sent.
	TrueSetup Rule = "true-setup"
	// A setup ends in one way at a site: it confirms, or shows the keys of its boxes.
	OneEnd Rule = "one-end"
	// No log entry, snapshot, log line, or message holds an exact sum, and none but the
	// upload itself a masked upload.
	UnNoised Rule = "un-noised"
	// A release is the true sum of its survivors and the one noise of that sum.
	RightSum Rule = "right-sum"
	// What a query asks about follows from the release before it.
	NextStep Rule = "next-step"
	// A site is asked to sign a result after its draft is durable on a quorum, and signs one of a
	// study.
	OneResult Rule = "one-result"
	// A study that is over says so once sites have signed its result, or with a code.
	HonestEnd Rule = "honest-end"
	// The history itself makes sense.
	Readable Rule = "readable"
)

// Killed is the point of an event that a caller adds when it has killed a real
// process: writes of Owner that had begun may be durable although the process could
// not say so. Without it they count as not made.
const Killed = "process.killed"

// Truth is what the run was of.
type Truth struct {
	Coordinators []string        // data folders
	Quorum       int             // coordinators that must hold an entry: 2 of 3, 1 of 1
	Sites        map[string]Site // by the agent's data folder
}

// Site is one agent's.
type Site struct {
	Name string // as in rosters
	// Sum is the site's exact contribution to a query before masking, computed
	// from its rows; nil or an error fails right-sum.
	Sum func(p *study.Plan, site int, a study.Ask) ([]int64, error)
}

// Violation is a rule that does not hold.
type Violation struct {
	Rule  Rule
	Event int // ordinal of the event that showed it, from 0; -1 for a log line or the end
	Owner string
	Study proposal.Digest
	Query int // -1 where it means nothing
	Slot  int
	Text  string // no data: names, numbers of queries, slots, sites
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: event %d, %s, study %.8s, query %d, slot %d: %s", v.Rule, v.Event, v.Owner, v.Study, v.Query, v.Slot, v.Text)
}

// Report is what was seen: a history in which little happened proves little.
type Report struct {
	Events    int                `json:"events"`
	Lines     int                `json:"lines"`
	Entries   int                `json:"entries"` // of studies, durable on a quorum
	Snapshots int                `json:"snapshots"`
	Studies   int                `json:"studies"` // proposed for good
	Completed int                `json:"completed"`
	Ended     map[study.Code]int `json:"ended"`
	Released  int                `json:"released"` // queries
	// releases opened again from the wire and found right
	Checked      int          `json:"checked"`
	Slots        int          `json:"slots"`   // that some site uploaded in
	Uploads      int          `json:"uploads"` // distinct
	SurvivorSets int          `json:"survivor_sets"`
	Openings     int          `json:"openings"`
	Unfinished   []Unfinished `json:"unfinished,omitempty"`
}

// Unfinished is a study that was proposed for good and is not over.
type Unfinished struct {
	Study    proposal.Digest `json:"study"`
	Name     string          `json:"name"`
	Released int             `json:"released"` // queries
	Queries  int             `json:"queries"`  // in the plan
}

// maxViolations bounds what is kept of a run that is broken throughout.
const maxViolations = 200

// Checker takes a history event by event. It is safe for concurrent use; the order of
// the calls is the order of the history.
type Checker struct {
	mu         sync.Mutex
	truth      Truth
	ordinal    int
	event      failpoint.Event // the one at hand
	report     Report
	violations []Violation

	ledgers   ledgers
	logs      logs
	entries   map[[32]byte]*entry // by hash; nil for one that is not about a study
	snapshots map[[32]byte]bool   // met
	studies   map[proposal.Digest]*run
	leaks     *leaks
}

// New begins a history.
func New(truth Truth) *Checker {
	return &Checker{
		truth: truth, studies: map[proposal.Digest]*run{}, leaks: newLeaks(),
		ledgers: ledgers{durable: map[write]bool{}, begun: map[string]map[write]bool{}},
		logs:    newLogs(truth.Quorum),
		entries: map[[32]byte]*entry{}, snapshots: map[[32]byte]bool{},
		report: Report{Ended: map[study.Code]int{}},
	}
}

// Check judges a whole history.
func Check(events []failpoint.Event, truth Truth) (Report, []Violation) {
	c := New(truth)
	for _, e := range events {
		c.Add(e)
	}
	return c.Close()
}

// Add takes the next event and gives the violations that it shows. A write that a
// test made fail before it began need not be added.
func (c *Checker) Add(e failpoint.Event) []Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.violations)
	c.event = e
	switch {
	case e.Point == failpoint.Log:
		c.logged(e)
	case e.Point == failpoint.Snapshot:
		c.snapshot(e)
	case e.Point == failpoint.Send:
		c.sent(e)
	case e.Point == failpoint.Receive:
		c.received(e)
	case e.Point == Killed:
		c.killed(e.Owner)
	case strings.HasPrefix(e.Point, failpoint.LedgerPrefix):
		c.wrote(e)
	}
	c.ordinal++
	c.report.Events++
	return slices.Clone(c.violations[before:])
}

// Line takes a line of a process's log.
func (c *Checker) Line(owner string, text []byte) []Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.violations)
	c.event = failpoint.Event{Point: "line", Owner: owner}
	ordinal := c.ordinal
	c.ordinal = -1
	c.report.Lines++
	c.search("a log line", text, everything)
	c.ordinal = ordinal
	return slices.Clone(c.violations[before:])
}

// Close ends the history. The checker may be asked again after more events.
func (c *Checker) Close() (Report, []Violation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.report
	r.Ended = map[study.Code]int{}
	for digest, s := range c.studies {
		r.Released += len(s.committed)
		r.SurvivorSets += s.sets
		r.Openings += s.openings
		r.Slots += len(s.slots)
		if !s.proposed {
			continue
		}
		r.Studies++
		switch {
		case s.completed():
			r.Completed++
		case s.ended:
			r.Ended[s.code]++
		default:
			r.Unfinished = append(r.Unfinished, Unfinished{digest, s.plan.Proposal.Spec.Name, len(s.committed), len(s.plan.Queries)})
		}
	}
	slices.SortFunc(r.Unfinished, func(a, b Unfinished) int { return cmp.Compare(a.Name, b.Name) })
	return r, slices.Clone(c.violations)
}

// fail notes a violation by the event at hand.
func (c *Checker) fail(rule Rule, s *run, query, slot int, format string, args ...any) {
	if len(c.violations) >= maxViolations {
		return
	}
	v := Violation{Rule: rule, Event: c.ordinal, Owner: c.event.Owner, Query: query, Slot: slot, Text: fmt.Sprintf(format, args...)}
	if s != nil {
		v.Study = s.plan.Digest
	}
	c.violations = append(c.violations, v)
}

// owner returns the data folder of the agent that a path is of.
func (c *Checker) owner(path string) (string, bool) {
	if _, ok := c.truth.Sites[path]; ok {
		return path, true
	}
	path = filepath.Dir(path) // its ledger
	_, ok := c.truth.Sites[path]
	return path, ok
}

// killed takes a real process's end.
func (c *Checker) killed(owner string) {
	if site, ok := c.owner(owner); ok {
		for w := range c.ledgers.begun[site] {
			c.ledgers.durable[w] = true
		}
		delete(c.ledgers.begun, site)
		return
	}
	for _, l := range c.logs.survive(owner) {
		c.store(owner, l)
	}
}

// write is one thing in a ledger.
type write struct {
	site, point string
	study       proposal.Digest
	query, slot int
}

// ledgers are all agents'. What was durable once counts forever: an agent whose
// ledger is put back is the agent's own business, what it may send then is not.
type ledgers struct {
	durable map[write]bool
	begun   map[string]map[write]bool // by site: before, and no after yet
}

// wrote takes a passage of a ledger's write.
func (c *Checker) wrote(e failpoint.Event) {
	site, ok := c.owner(e.Owner)
	if !ok {
		c.fail(Readable, nil, e.Query, e.Slot, "a ledger of no known site")
		return
	}
	w := write{site, strings.TrimPrefix(e.Point, failpoint.LedgerPrefix), e.Study, e.Query, e.Slot}
	if e.Phase == failpoint.Before {
		if c.ledgers.begun[site] == nil {
			c.ledgers.begun[site] = map[write]bool{}
		}
		c.ledgers.begun[site][w] = true
		return
	}
	delete(c.ledgers.begun[site], w)
	c.ledgers.durable[w] = true
}

// journaled reports whether a site's ledger held something.
func (c *Checker) journaled(site, point string, s *run, query, slot int) bool {
	return c.ledgers.durable[write{site, point, s.plan.Digest, query, slot}]
}
