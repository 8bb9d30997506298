package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"covey/internal/study"
)

// sentMessage is one line of egress.jsonl: one message that left, or was on its
// way out when the agent stopped. It tells its kind and size, never its content.
type sentMessage struct {
	Time  time.Time     `json:"time"`
	Kind  string        `json:"kind"`
	Study *study.Digest `json:"study,omitempty"` // of all but hello
	Query *int          `json:"query,omitempty"`
	Slot  *int          `json:"slot,omitempty"`
	Code  study.Code    `json:"code,omitempty"`
	Bytes int           `json:"bytes"` // serialized, without TLS and gRPC's framing
	// SHA256 is of those bytes, Prev the link before this line (chain.go).
	SHA256 string `json:"sha256"`
	Prev   string `json:"prev"`
}

// of adds the message's hash.
func (s sentMessage) of(raw []byte) sentMessage {
	s.SHA256 = hashOf(raw)
	return s
}

// Count is how many messages of a kind left, and their bytes.
type Count struct {
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"`
}

// egressLog counts what left, over all runs of the agent: it appends to
// egress.jsonl and reads it back at the start. The file is the operator's record,
// and at the start a witness against a ledger that was restored alone; no rule
// rests on it, so it is not fsynced, and a failing write is logged and does not
// stop a study.
type egressLog struct {
	log *slog.Logger

	mu     sync.Mutex
	file   *os.File
	prev   string // link after the last line
	failed bool
	link   map[string]Count                  // by kind, of messages of no study, and of words about studies beyond maxCounted
	study  map[study.Digest]map[string]Count // by kind
	last   map[study.Digest]map[string]spot  // by kind, of uploads and signatures
}

// maxCounted bounds the studies whose decisions and refusals alone are counted each by itself; the file has every line.
const maxCounted = 10_000

// spot is the latest slot that a kind of message left for.
type spot struct{ query, slot int }

// EgressFile is the operator's record in a data directory.
const EgressFile = "egress.jsonl"

func openEgress(dir string, log *slog.Logger) (*egressLog, error) {
	path := filepath.Join(dir, EgressFile)
	e := &egressLog{log: log, prev: startOfChain, link: map[string]Count{}, study: map[study.Digest]map[string]Count{}, last: map[study.Digest]map[string]spot{}}
	if err := e.load(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	e.file = f
	// A line that a crash cut off is ended, so that the next is one of its own.
	if size, err := f.Seek(0, io.SeekEnd); err == nil && size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			_, err = f.Write([]byte{'\n'})
			return e, err
		}
	}
	return e, nil
}

// load adds the lines of earlier runs up. A line that a crash cut off is skipped.
func (e *egressLog) load(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		e.prev = nextLink(e.prev, lines.Bytes())
		var s sentMessage
		if json.Unmarshal(lines.Bytes(), &s) == nil {
			e.add(s)
		}
	}
	return lines.Err()
}

func (e *egressLog) add(s sentMessage) {
	counts := e.link
	word := s.Kind == "decision" || s.Kind == "refusal" // a site may say either about any digest
	if s.Study != nil && (!word || e.study[*s.Study] != nil || len(e.study) < maxCounted) {
		if e.study[*s.Study] == nil {
			e.study[*s.Study] = map[string]Count{}
		}
		counts = e.study[*s.Study]
	}
	c := counts[s.Kind]
	counts[s.Kind] = Count{c.Messages + 1, c.Bytes + s.Bytes}
	if s.Study == nil || s.Query == nil || s.Slot == nil || s.Kind != "upload" && s.Kind != "signature" {
		return
	}
	if e.last[*s.Study] == nil {
		e.last[*s.Study] = map[string]spot{}
	}
	if at, ok := e.last[*s.Study][s.Kind]; !ok || *s.Slot >= at.slot {
		e.last[*s.Study][s.Kind] = spot{*s.Query, *s.Slot}
	}
}

// record counts one message.
func (e *egressLog) record(s sentMessage, now time.Time) {
	s.Time = now.UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.add(s)
	s.Prev = e.prev
	line, err := json.Marshal(s)
	if err == nil {
		e.prev = nextLink(e.prev, line)
		_, err = e.file.Write(append(line, '\n'))
	}
	if err != nil && !e.failed {
		e.failed = true
		e.log.Error("the egress log cannot be written; counts go on in memory", "error", err)
	}
}

func (e *egressLog) close() error { return e.file.Close() }

// EgressReply is what left this site so far.
type EgressReply struct {
	// Link counts messages of no study, such as hellos, and decisions and refusals about studies beyond the first 10,000.
	Link    map[string]Count `json:"link"`
	Studies []StudyEgress    `json:"studies"`
}

// StudyEgress is what left for one study, by kind of message.
type StudyEgress struct {
	Study study.Digest     `json:"study"`
	Name  string           `json:"name,omitempty"`
	Sent  map[string]Count `json:"sent"`
	// Planned is what the plan says will have left at the end, if the plan is at hand.
	Planned []PlannedEgress `json:"planned,omitempty"`
}

func (e *egressLog) snapshot() EgressReply {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := EgressReply{Link: maps.Clone(e.link), Studies: []StudyEgress{}}
	for id, counts := range e.study {
		out.Studies = append(out.Studies, StudyEgress{Study: id, Sent: maps.Clone(counts)})
	}
	slices.SortFunc(out.Studies, func(a, b StudyEgress) int { return strings.Compare(a.Study.String(), b.Study.String()) })
	return out
}

// PlannedEgress is one message that a study makes leave.
type PlannedEgress struct {
	Kind  string `json:"kind"`
	Query int    `json:"query"` // -1 for the setup
	Round int    `json:"round"` // -1 for the setup
	Bytes int    `json:"bytes"` // serialized, without TLS and gRPC's framing
	What  string `json:"what"`
}

// The sizes of internal/secagg's messages, which a test compares with real ones:
// the announcement's header, its transport key and signature; a box's AEAD tag; the
// header of shares.
const (
	announcementFixed = 29 + 9 + 32 + 32 + 10 + 4 + 2 + 32 + 64
	sparseFixed       = announcementFixed - 9 + 7 + 8 + 32 + 32 // another name, the graph's numbers, the nonce's commitment, the body's hash
	boxFixed          = 16
	sharesFixed       = 23 + 24 + 32 + 4 + 32 + 32 + 2
)

// plannedEgress lists every message that a study makes leave, in order and to the
// byte, if no slot is retried and no link breaks: either sends messages once more. With more than 64 sites
// a graph is drawn that says whether the site signs at all, and shares are K of them on average.
func plannedEgress(p *study.Plan, self int) []PlannedEgress {
	t, units := p.Thresholds, p.Proposal.Roster[self].Units
	sealed := make([][]byte, t.Holders)
	for i := range sealed {
		if i != self || t.Sparse() {
			sealed[i] = make([]byte, 64*p.Slots+boxFixed)
		}
	}
	var out []PlannedEgress
	query, round := -1, -1
	add := func(a answer, what string) {
		raw, err := encode(a)
		if err != nil {
			return // bytes of zeros encode
		}
		out = append(out, PlannedEgress{a.kind(), query, round, len(raw), what})
	}
	add(decision{Study: p.Digest, Verdict: VerdictApproved, Signature: make([]byte, 64)}, "yes or no to this digest, signed, and a code from a fixed list")
	fixed := announcementFixed
	if t.Sparse() {
		fixed = sparseFixed
	}
	add(announcement{Study: p.Digest, Signed: make([]byte, fixed+64*t.Threshold*p.Slots)},
		"one-time public keys and commitments to random polynomials, signed; nothing of the data")
	if t.Sparse() {
		add(nonce{Study: p.Digest, Nonce: make([]byte, 32)}, "a random number that helps to draw who holds whose shares")
	}
	add(boxes{Study: p.Digest, Boxes: sealed}, "shares of one-time keys, encrypted to each site that holds them; nothing of the data")
	add(confirmation{Study: p.Digest, Signature: make([]byte, 64)}, "a signature that the shares are in order")
	for i, q := range p.Queries {
		query, round = i, q.Round
		what := q.Kind.Sends(units, q.Values) + hidden
		if p.Honest > 0 {
			what = q.Kind.Sends(units, q.Values) + ", with this site's share of the noise" + hidden
		}
		if q.Branch != "" {
			what += fmt.Sprintf(` (only if "auto" decides for %s)`, q.Branch)
		}
		add(upload{p.Digest, i, i, make([]byte, q.Bytes)}, what)
		add(signature{p.Digest, i, i, make([]byte, 64)}, "a signature on the set of sites in the sum")
		add(shares{p.Digest, i, i, make([]byte, sharesFixed+32*t.Holders)}, "shares of one-time keys that remove the masks of the whole sum, once")
	}
	return out
}

const hidden = ", masked: uniformly random to all; only the sum over sites can be opened"
