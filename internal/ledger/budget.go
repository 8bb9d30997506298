package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.etcd.io/bbolt"

	"covey/internal/packed"
)

// maxProposal is the most bytes of a proposal that is read.
const maxProposal = 1 << 30

// State is where a study stands at this site.
type State string

const (
	Unknown  State = "not approved"
	Approved State = "approved"
	Rejected State = "rejected"
	Finished State = "finished"
)

// tolerance is the relative slack of budget comparisons: sums of float64 ρ that are equal in exact
// arithmetic must compare equal (0.1+0.1+0.1 against 0.3). 1e-12 of a budget has no consequence for
// privacy.
const tolerance = 1e-12

// Population is the budget of one declared population, in ρ (additive over all studies). CapRho is
// the cap of the latest approval; ReservedRho what approved, unfinished studies may still charge.
type Population struct {
	Name                          string
	CapRho, ReservedRho, SpentRho float64
	// GDP reports whether all studies that spent or reserved have the bridge (Approval.GDP), so
	// that the sum converts by the Gaussian's curve.
	GDP bool
	// Bridged reports whether the latest approval had a larger cap for studies with the bridge
	// (Approval.CapGDP), or there is none: a cap that had no such part grows only by its operator's
	// word.
	Bridged bool
}

// Cap returns the cap that binds the population: gdp while all its charges have the bridge, and
// those of the study to come, as study reports; else the smaller of both.
func (p Population) Cap(zcdp, gdp float64, study bool) float64 {
	if study && (p.GDP || p.SpentRho+p.ReservedRho == 0) {
		return gdp
	}
	return min(zcdp, gdp)
}

// Who approves or rejects a study.
const (
	ByOperator = "operator"
	ByPolicy   = "policy"
)

// Approval is an operator's or a policy's consent to one study digest.
type Approval struct {
	Study      [32]byte
	Name       string
	Population string
	Proposal   []byte  // the exact bytes that were approved
	Rho        float64 // ρ of the whole plan
	GDP        bool    // every charge has the bridge (study.Plan.Curve)
	CapRho     float64 // the population's cap in the site's own config
	CapGDP     float64 // the same while all charges of the population have the bridge; 0: CapRho
	DataSHA256 [32]byte
	// the data set as the site had configured it, for the study's whole life; not looked into
	Config   []byte
	Proposer Proposer
	// what all studies of the proposer's key may be charged of the population, as the caps above;
	// 0: what the population may
	ProposerCapRho, ProposerCapGDP float64
	By                             string // ByOperator or ByPolicy
	Time                           time.Time
}

// Approve reserves a.Rho of the population's budget and opens the study's
// journal. In one transaction it checks that spent + reserved + a.Rho stays
// within a.CapRho over all the population's studies, and within the proposer's
// own cap over those of the proposer: *BudgetError otherwise.
// Approving again what is approved changes nothing and returns nil; approving
// the digest with another population, proposal, ρ or data is a *ConflictError.
// A rejected study can be approved by an operator, not by a policy; a finished
// one by nobody (*StateError).
func (l *Ledger) Approve(a Approval) error {
	if err := a.check(); err != nil {
		return err
	}
	// The log may be lost: what Recover then counts as spent is what ledger.db says was approved.
	return l.updateWhole(of("approve", a.Study), func(tx *bbolt.Tx) error {
		r := l.record(tx, a.Study)
		e, _, err := r.entry()
		if err != nil {
			return err
		}
		switch {
		case e.State == Approved:
			if e.Population != a.Population || e.Name != a.Name || e.Rho != a.Rho || e.GDP != a.GDP ||
				!bytes.Equal(r.proposal(), a.Proposal) || !bytes.Equal(e.Data, a.DataSHA256[:]) {
				return &ConflictError{Study: a.Study, What: "approval", Query: -1, Slot: -1}
			}
			return nil
		case e.State == Finished, e.State == Rejected && a.By != ByOperator:
			return &StateError{Study: a.Study, State: e.State}
		}
		limit, err := l.roomFor(tx, a)
		if err != nil {
			return err
		}
		if err := r.create(); err != nil {
			return err
		}
		if err := r.put(nil, proposalKey, packed.Zip(a.Proposal)); err != nil {
			return err
		}
		if len(a.Config) > 0 {
			if err := r.put(nil, configKey, a.Config); err != nil {
				return err
			}
		}
		return r.save(nil, entryKey, entry{
			State: Approved, Name: a.Name, Population: a.Population,
			Rho: a.Rho, GDP: a.GDP, CapRho: limit, Bridged: a.capGDP() > a.CapRho, Data: a.DataSHA256[:], Proposer: a.Proposer.stored(), By: a.By, Time: a.Time,
		})
	})
}

// roomFor returns the population's cap, and a *BudgetError if a.Rho does not fit under it or under
// the proposer's own.
func (l *Ledger) roomFor(tx *bbolt.Tx, a Approval) (limit float64, err error) {
	pop, part := Population{Name: a.Population, GDP: true}, Population{Name: a.Population, GDP: true}
	if err := l.each(tx, func(s StudyEntry) {
		pop.add(s)
		if s.Proposer.same(a.Proposer.Key) {
			part.add(s)
		}
	}); err != nil {
		return 0, err
	}
	limit, fits := pop.fits(a.CapRho, a.capGDP(), a.Rho, a.GDP)
	if !fits {
		return limit, &BudgetError{Population: a.Population, Cap: limit, Spent: pop.SpentRho, Reserved: pop.ReservedRho, Asked: a.Rho}
	}
	if a.ProposerCapRho > 0 {
		if limit := part.Cap(a.ProposerCapRho, a.ProposerCapGDP, a.GDP); part.SpentRho+part.ReservedRho+a.Rho > limit*(1+tolerance) {
			return limit, &BudgetError{Population: a.Population, Proposer: a.Proposer.Name, Cap: limit, Spent: part.SpentRho, Reserved: part.ReservedRho, Asked: a.Rho}
		}
	}
	return limit, nil
}

// capGDP is CapGDP, or CapRho where there is no other.
func (a *Approval) capGDP() float64 {
	if a.CapGDP == 0 {
		return a.CapRho
	}
	return a.CapGDP
}

func (a *Approval) check() error {
	switch {
	case !printable(a.Population, 1):
		return &FieldError{Field: "population", Reason: "must be 1 to 200 characters of text"}
	case !printable(a.Name, 0):
		return &FieldError{Field: "name", Reason: "must be at most 200 characters of text"}
	case !(a.Rho > 0) || math.IsInf(a.Rho, 0):
		return &FieldError{Field: "rho", Reason: fmt.Sprintf("must be positive and finite, not %g", a.Rho)}
	case !(a.CapRho >= 0) || math.IsInf(a.CapRho, 0) || !(a.CapGDP >= 0) || math.IsInf(a.CapGDP, 0):
		return &FieldError{Field: "cap", Reason: fmt.Sprintf("must be at least 0 and finite, not %g", a.CapRho)}
	}
	if caps := a.ProposerCapRho + a.ProposerCapGDP; !(a.ProposerCapRho >= 0) || !(a.ProposerCapGDP >= a.ProposerCapRho) || math.IsInf(caps, 0) {
		return &FieldError{Field: "proposer's cap", Reason: fmt.Sprintf("must be at least 0 and finite, not %g", caps)}
	}
	if err := a.Proposer.check(); err != nil {
		return err
	}
	return checkBy(a.By)
}

func checkBy(by string) error {
	if by != ByOperator && by != ByPolicy {
		return &FieldError{Field: "by", Reason: `must be "operator" or "policy"`}
	}
	return nil
}

func printable(s string, least int) bool {
	return utf8.ValidString(s) && len(s) >= least && len(s) <= 200 &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Reject records that the study was refused; rejecting twice is fine. An
// approved or finished study is a *StateError: Finish ends an approved one.
func (l *Ledger) Reject(study [32]byte, by string, at time.Time) error {
	if err := checkBy(by); err != nil {
		return err
	}
	return l.update(of("reject", study), func(tx *bbolt.Tx) error {
		r := l.record(tx, study)
		e, _, err := r.entry()
		if err != nil {
			return err
		}
		switch e.State {
		case Rejected:
			return nil
		case "":
		default:
			return &StateError{Study: study, State: e.State}
		}
		if err := r.create(); err != nil {
			return err
		}
		return r.save(nil, entryKey, entry{State: Rejected, By: by, Time: at})
	})
}

// Approved returns the approval of a study that is approved and not finished, without its proposal:
// every message of the study asks for it. It is false for every other study, and once the ledger
// has failed.
func (l *Ledger) Approved(study [32]byte) (a Approval, ok bool) {
	err := l.view(func(tx *bbolt.Tx) error {
		r := l.record(tx, study)
		e, err := r.active()
		if err != nil {
			return err
		}
		a = Approval{Study: study, Name: e.Name, Population: e.Population, Rho: e.Rho, GDP: e.GDP, CapRho: e.CapRho, By: e.By, Time: e.Time}
		if e.Proposer != nil {
			a.Proposer = *e.Proposer
		}
		copy(a.DataSHA256[:], e.Data)
		a.Config = bytes.Clone(r.b.Get(configKey))
		return nil
	})
	if err != nil {
		return Approval{}, false
	}
	return a, true
}

// Proposal returns the proposal of a study that Approved returns.
func (l *Ledger) Proposal(study [32]byte) (body []byte, ok bool) {
	err := l.view(func(tx *bbolt.Tx) error {
		r := l.record(tx, study)
		_, err := r.active()
		if err == nil {
			body = r.proposal()
		}
		return err
	})
	if err != nil {
		return nil, false
	}
	return body, true
}

// active returns the study's entry if it is approved and not finished, else a
// *StateError.
func (r *record) active() (entry, error) {
	e, ok, err := r.entry()
	if err != nil {
		return entry{}, err
	}
	if !ok {
		e.State = Unknown
	}
	if e.State != Approved {
		return entry{}, &StateError{Study: r.id, State: e.State}
	}
	return e, nil
}

// proposal returns the approved proposal's bytes.
func (r *record) proposal() []byte {
	if r.b == nil {
		return nil
	}
	text, err := packed.Unzip(r.b.Get(proposalKey), maxProposal)
	if err != nil { // no approval's
		return nil
	}
	return text
}

// charge returns nil if the query is charged rho, or may be: another ρ on record for it is a
// *ConflictError, more than the approved ρ in all a *ChargeError. write puts it on record.
func (r *record) charge(query int, rho float64, write bool) error {
	e, err := r.active()
	if err != nil {
		return err
	}
	if v := r.get(chargeBucket, index(query)); v != nil {
		if old, ok := float(v); !ok {
			return errDamaged
		} else if old != rho {
			return &ConflictError{Study: r.id, What: "charge", Query: query, Slot: -1}
		}
		return nil
	}
	spent, _, err := r.charged()
	if err != nil {
		return err
	}
	if spent+rho > e.Rho*(1+tolerance) {
		return &ChargeError{Study: r.id, Query: query, Approved: e.Rho, Spent: spent, Asked: rho}
	}
	if !write {
		return nil
	}
	r.mark(place{"charge", r.id, query, -1})
	return r.put(chargeBucket, index(query), binary.BigEndian.AppendUint64(nil, math.Float64bits(rho)))
}

func checkRho(rho float64) error {
	if !(rho >= 0) || math.IsInf(rho, 0) {
		return &FieldError{Field: "rho", Reason: fmt.Sprintf("must be at least 0 and finite, not %g", rho)}
	}
	return nil
}

func float(v []byte) (float64, bool) {
	if len(v) != 8 {
		return 0, false
	}
	f := math.Float64frombits(binary.BigEndian.Uint64(v))
	return f, f >= 0 && !math.IsInf(f, 0)
}

// charged sums the study's charges, in the order of queries.
func (r *record) charged() (rho float64, n int, err error) {
	b := r.b.Bucket(chargeBucket)
	if b == nil {
		return 0, 0, errDamaged
	}
	err = b.ForEach(func(_, v []byte) error {
		f, ok := float(v)
		if !ok {
			return errDamaged
		}
		rho += f
		n++
		return nil
	})
	return rho, n, err
}

// Finish ends an approved study: what it reserved and did not charge is free
// again, and every secret left in its journal is erased before Finish returns.
// code says why, in a word of the caller's ("done", "aborted"); the first one
// stays. Final results remain readable.
func (l *Ledger) Finish(study [32]byte, code string) error {
	return l.finish(study, code, false, false)
}

// Leave is Finish by the site's own word, which [StudyEntry.Own] tells from the same code of
// another's.
func (l *Ledger) Leave(study [32]byte, code string) error { return l.finish(study, code, false, true) }

// Forfeit is Finish for a study of which this ledger no longer knows all that
// was sent: in the same transaction what is left of its approved ρ counts as
// spent.
func (l *Ledger) Forfeit(study [32]byte, code string) error {
	return l.finish(study, code, true, false)
}

func (l *Ledger) finish(study [32]byte, code string, forfeit, own bool) error {
	if !printable(code, 1) {
		return &FieldError{Field: "code", Reason: "must be 1 to 200 characters of text"}
	}
	err := l.update(of("finish", study), func(tx *bbolt.Tx) error {
		r := l.record(tx, study)
		e, ok, err := r.entry()
		if err != nil {
			return err
		}
		if !ok {
			e.State = Unknown
		}
		switch e.State {
		case Finished:
			return nil
		case Approved:
			e.Own = own
			return r.end(&e, code, forfeit)
		}
		return &StateError{Study: study, State: e.State}
	})
	if err != nil {
		return err
	}
	// A crash here leaves a finished study with secrets; Open erases them.
	return l.finishErasures(study)
}

// end finishes an approved study; with forfeit, what it did not charge is spent.
func (r *record) end(e *entry, code string, forfeit bool) error {
	if forfeit {
		spent, _, err := r.charged()
		if err != nil {
			return err
		}
		e.Forfeit = max(0, e.Rho-spent)
	}
	e.State, e.Code = Finished, code
	if err := r.save(nil, entryKey, *e); err != nil {
		return err
	}
	// Nobody reads it again, and a coordinator whose proposals a policy approves can end any
	// number: each may have 32 MiB.
	return r.l.do(r.tx, change{op: opDelete, path: [][]byte{studiesBucket, r.id[:]}, key: proposalKey})
}

// Population returns a budget by name: that of a fresh population if nothing is on record.
func (l *Ledger) Population(name string) Population {
	for _, p := range l.Populations() {
		if p.Name == name {
			return p
		}
	}
	return Population{Name: name, GDP: true, Bridged: true}
}

// Populations lists the budgets, by name; nil once the ledger has failed.
func (l *Ledger) Populations() []Population {
	byName := map[string]*Population{}
	newest := map[string]time.Time{}
	err := l.view(func(tx *bbolt.Tx) error {
		return l.eachEntry(tx, func(s StudyEntry, e *entry) {
			if s.State != Approved && s.State != Finished {
				return
			}
			p := byName[s.Population]
			if p == nil {
				p = &Population{Name: s.Population, GDP: true}
				byName[s.Population] = p
			}
			p.add(s)
			if t, ok := newest[s.Population]; !ok || e.Time.After(t) {
				p.CapRho, p.Bridged, newest[s.Population] = e.CapRho, e.Bridged, e.Time
			}
		})
	})
	if err != nil {
		return nil
	}
	var all []Population
	for _, p := range byName {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Population) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// add counts a study's ρ if the study is on the population's data.
func (p *Population) add(s StudyEntry) {
	if s.Population == p.Name {
		p.SpentRho += s.SpentRho
		p.ReservedRho += s.ReservedRho
		p.GDP = p.GDP && (s.GDP || s.SpentRho+s.ReservedRho == 0)
	}
}
