package egress

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

	"covey/internal/proposal"
	"covey/internal/study"
)

// Line is one line of egress.jsonl: one message that left, or was on its
// way out when the agent stopped. It tells its kind and size, never its content.
type Line struct {
	Time  time.Time        `json:"time"`
	Kind  string           `json:"kind"`
	Study *proposal.Digest `json:"study,omitempty"` // of all but hello
	Query *int             `json:"query,omitempty"`
	Slot  *int             `json:"slot,omitempty"`
	Code  study.Code       `json:"code,omitempty"`
	Bytes int              `json:"bytes"` // serialized, without TLS and gRPC's framing
	// SHA256 is the hash of those bytes, Prev the link before this line (chain.go).
	SHA256 string `json:"sha256"`
	Prev   string `json:"prev"`
}

// KindLocal is the kind of a line about a file that was made here from this site's rows. It is no
// message: nothing left, and no count has it.
const KindLocal = "local"

// kindAnew is the kind of the first line of a file that was begun where an earlier one was gone. It
// is no message, either.
const kindAnew = "anew"

// sent reports whether a line records a message.
func (s Line) sent() bool { return s.Kind != KindLocal && s.Kind != kindAnew }

// Of adds the message's hash.
func (s Line) Of(raw []byte) Line {
	s.SHA256 = hashOf(raw)
	return s
}

// Count is how many messages of a kind left, and their bytes.
type Count struct {
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"`
}

// Total adds counts of all kinds up.
func Total(sent map[string]Count) (all Count) {
	for _, c := range sent {
		all = Count{all.Messages + c.Messages, all.Bytes + c.Bytes}
	}
	return all
}

// Log counts what left, over all runs of the agent: it appends to
// egress.jsonl and reads it back at the start. The file is the operator's record,
// and at the start a witness against a ledger that was restored alone. Of each study the first
// line alone is fsynced: a power cut takes later ones, and leaves one of each study that the ledger
// was charged for. What cannot be written to it is not sent: studies wait until it can be.
type Log struct {
	log  *slog.Logger
	path string

	mu     sync.Mutex
	file   file
	size   int64  // of it
	prev   string // link after the last line
	failed bool   // the latest write, and the log says so
	torn   error  // nothing can be written any more
	absent bool   // Open found no file, or an empty one
	anew   bool   // a line says that the file was begun where an earlier one was gone
	// by kind, of messages of no study, and of words about studies beyond maxCounted
	link  map[string]Count
	study map[proposal.Digest]map[string]Count // by kind
	last  map[proposal.Digest]map[string]Spot  // by kind, of placed ones
}

// file is an *os.File that is appended to.
type file interface {
	io.WriteSeeker
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
}

// placed are the kinds that leave for a slot and stand for a record in the ledger.
var placed = []string{"upload", "signature", "shares", "proof", "pairkeys"}

// maxCounted bounds the studies whose decisions and refusals alone are counted each by itself; the
// file has every line.
const maxCounted = 10_000

// Spot is the latest slot that a kind of message left for.
type Spot struct{ Query, Slot int }

// Witness is what left of one study: counts by kind, and the latest slot of its uploads,
// signatures, shares, and of the proofs and keys that follow shares.
type Witness struct {
	Sent map[string]Count
	Last map[string]Spot
}

// File is the operator's record in a data directory.
const File = "egress.jsonl"

// Open reads the record in a data directory back and goes on with it. It logs a failing write to
// log.
func Open(dir string, log *slog.Logger) (*Log, error) {
	path := filepath.Join(dir, File)
	e := &Log{log: log, path: path, prev: startOfChain, link: map[string]Count{}, study: map[proposal.Digest]map[string]Count{}, last: map[proposal.Digest]map[string]Spot{}}
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
			if _, err := f.Write([]byte{'\n'}); err != nil {
				return e, err
			}
		}
	}
	at, err := f.Stat()
	if err == nil {
		e.size = at.Size()
	}
	return e, err
}

// load adds the lines of earlier runs up. A line that a crash cut off is skipped.
func (e *Log) load(path string) error {
	e.absent = true
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
		e.absent = false
		e.prev = nextLink(e.prev, lines.Bytes())
		var s Line
		if json.Unmarshal(lines.Bytes(), &s) == nil {
			e.add(s)
		}
	}
	return lines.Err()
}

func (e *Log) add(s Line) {
	e.anew = e.anew || s.Kind == kindAnew
	if !s.sent() {
		return
	}
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
	if s.Study == nil || s.Query == nil || s.Slot == nil || !slices.Contains(placed, s.Kind) {
		return
	}
	if e.last[*s.Study] == nil {
		e.last[*s.Study] = map[string]Spot{}
	}
	if at, ok := e.last[*s.Study][s.Kind]; !ok || *s.Slot >= at.Slot {
		e.last[*s.Study][s.Kind] = Spot{*s.Query, *s.Slot}
	}
}

// Anew notes in a file that Open has made that an earlier one is gone, and reports whether it is.
// Callers know that messages left before, and call it before any Record.
func (e *Log) Anew(now time.Time) bool {
	if e.absent {
		e.Record(Line{Kind: kindAnew}, now) // or the first message is not recorded and not sent
	}
	return e.absent
}

// Record counts one message that is about to leave. If its line cannot be written, it MUST NOT
// leave: nothing is counted then, and the record is as before.
func (e *Log) Record(s Line, now time.Time) error {
	s.Time = now.UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Prev = e.prev
	line, err := json.Marshal(s)
	if err == nil {
		err = e.append(append(line, '\n'), s.Study != nil && s.sent() && e.study[*s.Study] == nil)
	}
	if err == nil {
		e.failed = false
		e.add(s)
		e.prev = nextLink(e.prev, line)
		return nil
	}
	if !e.failed {
		e.failed = true
		e.log.Error("egress.jsonl cannot be written; nothing is sent until it can be", "error", err)
	}
	return fmt.Errorf("nothing is sent that cannot be recorded: %w", err)
}

// append writes a line, which outlasts a power cut if it must, or nothing of it. A part of it that
// cannot be taken back would break the chain, so that nothing is written after it before the next
// Open.
func (e *Log) append(line []byte, lasts bool) error {
	if e.torn != nil {
		return e.torn
	}
	if err := e.there(); err != nil {
		return err
	}
	n, err := e.file.Write(line)
	if err == nil && lasts {
		err = e.file.Sync()
	}
	if err == nil {
		e.size += int64(n)
		return nil
	}
	if n == 0 {
		return err
	}
	size, bad := e.file.Seek(0, io.SeekEnd)
	if bad == nil {
		bad = e.file.Truncate(size - int64(n))
	}
	e.torn = bad
	return err
}

var errMoved = errors.New("egress.jsonl was moved, deleted or cut while the agent ran: put it back, start the agent again, and let nothing rotate it; an agent that starts without it begins a new one, and says so")

// there returns an error unless the file that is open is the record still: what is written to one
// that was rotated away goes with it.
func (e *Log) there() error {
	ours, err := e.file.Stat()
	if err != nil {
		return err
	}
	if at, err := os.Stat(e.path); err != nil || !os.SameFile(ours, at) || at.Size() < e.size {
		return errMoved
	}
	return nil
}

// BegunAnew reports whether the file says that it lacks what left before.
func (e *Log) BegunAnew() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.anew
}

// Witness returns what left of each study.
func (e *Log) Witness() map[proposal.Digest]Witness {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[proposal.Digest]Witness, len(e.study))
	for id, counts := range e.study {
		out[id] = Witness{maps.Clone(counts), maps.Clone(e.last[id])}
	}
	return out
}

// Close closes the file.
func (e *Log) Close() error { return e.file.Close() }

// Reply is what left this site so far.
type Reply struct {
	// Link counts messages of no study, such as hellos, and decisions and refusals about studies
	// beyond the first 10,000.
	Link    map[string]Count `json:"link"`
	Studies []Study          `json:"studies"`
	// Last is the link after the last line that this agent knows of.
	Last string `json:"last"`
}

// Study is what left for one study, by kind of message.
type Study struct {
	Study proposal.Digest  `json:"study"`
	Name  string           `json:"name,omitempty"`
	Sent  map[string]Count `json:"sent"`
	// Planned is what the plan says will have left at the end, if the plan is at hand.
	Planned []Planned `json:"planned,omitempty"`
}

// Snapshot returns the counts, studies by digest.
func (e *Log) Snapshot() Reply {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := Reply{Link: maps.Clone(e.link), Studies: []Study{}, Last: e.prev}
	for id, counts := range e.study {
		out.Studies = append(out.Studies, Study{Study: id, Sent: maps.Clone(counts)})
	}
	slices.SortFunc(out.Studies, func(a, b Study) int { return strings.Compare(a.Study.String(), b.Study.String()) })
	return out
}

// Planned is one message that a study makes leave.
type Planned struct {
	Kind  string `json:"kind"`
	Query int    `json:"query"` // -1 for the setup
	Round int    `json:"round"` // -1 for the setup
	Bytes int    `json:"bytes"` // serialized, without TLS and gRPC's framing
	What  string `json:"what"`
}
