// Package outline has what a coordinator's lists and pages show: the state of a study under way, a
// summary of one that is over (all of it that stays in memory), and what sites and analysts last
// showed of themselves.
package outline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"covey/internal/analysis"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/shelf"
	"covey/internal/study"
	"covey/internal/wire"
)

// Word is a site's decision as it signed it. The log keeps it for good, so that an approval can
// be proved later.
type Word struct {
	Verdict   study.Verdict `json:"verdict"`
	Code      study.Code    `json:"code,omitempty"` // why, when rejected
	Signature []byte        `json:"signature"`      // study.CheckDecision says over what
	At        time.Time     `json:"at,omitzero"`
}

// Closed is a study that is over: what lists show of it stays in memory. The rest, its releases and
// its proposal, is on a shelf and is read on demand. So a coordinator's memory and the work of its
// start grow little with the number of past studies.
type Closed struct {
	// View shows no links and no faults.
	View     View              `json:"view"`
	Proposal proposal.Proposal `json:"proposal"` // without its columns
	Words    []analysis.Word   `json:"words"`    // by site
	Limit    int               `json:"limit"`    // of a site's messages about it
	Size     int64             `json:"size"`     // of the rest
	rest     shelf.Pieces      // the JSON of a whole
}

// whole is a closed study in full. Its releases can be most of a result file: they are written and
// read one by one.
type whole struct {
	State round.Durable `json:"state"`
	Words map[int]Word  `json:"words,omitempty"`
}

// keyReleases is the state's key of them.
const keyReleases = "releases"

// errClosed is a closed study in a snapshot that no log entries could have made.
var errClosed = errors.New("a study that is over does not fit its summary")

// Close makes the summary of a study that is over and puts the rest on a shelf.
func Close(v View, state *round.State, words map[int]Word, on *shelf.Shelf) (*Closed, error) {
	d := state.Durable
	slim(&d)
	releases := d.Releases
	d.Releases = nil
	text, err := json.Marshal(whole{d, words})
	if err != nil {
		return nil, err
	}
	p := state.Plan()
	c := &Closed{View: v, Proposal: p.Proposal, Words: wordsOf(p, words), Limit: wire.LargestOfSite(p)}
	c.Proposal.Spec.Columns, c.Proposal.Graph = nil, nil
	put := func(parts ...[]byte) {
		piece := slices.Concat(parts...)
		c.Size, c.rest = c.Size+int64(len(piece)), append(c.rest, on.Put(piece))
	}
	const begins = `{"state":{`
	before := begins + `"` + keyReleases + `":[`
	for _, r := range releases {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		put([]byte(before), text)
		before = ","
	}
	if len(releases) > 0 {
		put([]byte("],"), text[len(begins):])
	} else {
		put(text)
	}
	return c, nil
}

// wordsOf returns decisions by site, without their signatures.
func wordsOf(p *study.Plan, words map[int]Word) []analysis.Word {
	out := make([]analysis.Word, len(p.Proposal.Roster))
	for i := range out { // not over words: those of a snapshot may be of anybody
		word := words[i]
		out[i] = analysis.Word{Verdict: word.Verdict, Code: word.Code, At: word.At}
	}
	return out
}

// Take reads what Copy wrote, onto a shelf, without looking at it.
func (c *Closed) Take(from io.Reader, on *shelf.Shelf) (err error) {
	c.rest, err = on.Take(from, c.Size)
	return err
}

// Copy writes what is on the shelf.
func (c *Closed) Copy(w io.Writer) error { return c.rest.Copy(w) }

// slim removes from a study that is over what only its setup and its open slot needed: most of a
// study's bytes, and of a snapshot's. An empty announcement stays for each site that announced
// itself, and so do the confirmations of a study with a result, which shows them.
func slim(d *round.Durable) {
	// new: an opening may be under way with the old
	announcements := make([][]byte, len(d.Announcements))
	for i := range announcements {
		announcements[i] = []byte{}
	}
	d.Announcements, d.Nonces, d.Certificate = announcements, nil, nil
	if d.Status != round.StatusCompleted {
		d.Confirmations, d.Draft = nil, nil
	}
	d.Tags, d.Deposits, d.TagHashes, d.DepositHashes = nil, nil, nil, nil
}

// Site returns a site's roster index, or -1.
func (c *Closed) Site(name string) int {
	return slices.IndexFunc(c.Proposal.Roster, func(m proposal.Member) bool { return m.Name == name })
}

// Check returns an error unless a snapshot's closed study has what lists rely on.
func (c *Closed) Check() error {
	v, n := c.View, len(c.Proposal.Roster)
	over := v.Status == round.StatusCompleted || v.Status == round.StatusEnded
	if !over || len(v.Sites) != n || len(c.Words) != n || c.Size < 0 || v.Released < 0 {
		return errClosed
	}
	return nil
}

// Load reads a closed study from the shelf, without its releases. It needs no lock.
func (c *Closed) Load() (state *round.State, words map[int]Word, err error) {
	r, err := c.read(func(d *json.Decoder) error { return d.Decode(new(struct{})) })
	if err != nil {
		return nil, nil, err
	}
	if proposal.DigestOf(r.State.Body) != c.View.Digest || r.State.Status != c.View.Status {
		return nil, nil, errClosed
	}
	if state, err = round.Restore(r.State); err != nil {
		return nil, nil, err
	}
	return state, r.Words, nil
}

// Releases reads the releases of a closed study from the shelf, one after another, in order, until
// see fails. It needs no lock.
func (c *Closed) Releases(see func(round.Released) error) error {
	_, err := c.read(func(d *json.Decoder) error {
		var r round.Released
		if err := d.Decode(&r); err != nil {
			return err
		}
		return see(r)
	})
	return err
}

// read reads what is on the shelf, but for releases: release reads the next one.
func (c *Closed) read(release func(*json.Decoder) error) (r whole, err error) {
	d := json.NewDecoder(c.rest.Reader())
	state := map[string]json.RawMessage{}
	err = each(d, '{', func(key any) error {
		if key != "state" {
			return d.Decode(&r.Words)
		}
		return each(d, '{', func(key any) error {
			if key == keyReleases {
				return each(d, '[', func(any) error { return release(d) })
			}
			var value json.RawMessage
			if err := d.Decode(&value); err != nil {
				return err
			}
			state[fmt.Sprint(key)] = value
			return nil
		})
	})
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(state)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r.State)
}

// each has value read each value of the object, by its key, or of the list that comes next.
func each(d *json.Decoder, begins json.Delim, value func(key any) error) error {
	first, err := d.Token()
	if err == nil && first != begins {
		err = errClosed
	}
	for err == nil && d.More() {
		var key json.Token
		if begins == '{' {
			key, err = d.Token()
		}
		if err == nil {
			err = value(key)
		}
	}
	if err == nil {
		_, err = d.Token() // the end
	}
	return err
}
