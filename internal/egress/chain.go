package egress

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
)

// The lines of egress.jsonl are chained: link 0 is 64 zeros, link i the SHA-256, in hex, of link
// i-1 and line i as it stands in the file without its line break, and each line holds the link
// before it. So no line can be changed, taken out or put in without the next whole one showing it;
// that the last lines were taken off shows by other records, such as the last link, which an
// operator may note elsewhere. A line that a crash cut off is covered like any other.

// maxEgressLine bounds a line; a whole one is under 1 KiB.
const maxEgressLine = 1 << 16

// startOfChain is link 0.
var startOfChain = strings.Repeat("0", 2*sha256.Size)

// nextLink returns the link after a line.
func nextLink(link string, line []byte) string { return hashOf(append([]byte(link), line...)) }

func hashOf(line []byte) string {
	h := sha256.Sum256(line)
	return hex.EncodeToString(h[:])
}

// SentMessage is one message that left this site, or was on its way out when the agent stopped.
type SentMessage struct {
	Line   int              `json:"line"`
	Time   time.Time        `json:"time"`
	Kind   string           `json:"kind"`
	Study  *proposal.Digest `json:"study,omitempty"`
	Query  *int             `json:"query,omitempty"`
	Slot   *int             `json:"slot,omitempty"`
	Code   study.Code       `json:"code,omitempty"`
	Bytes  int              `json:"bytes"`
	SHA256 string           `json:"sha256"` // of those bytes
}

// Chain is what [Verify] found.
type Chain struct {
	Lines    int `json:"lines"`
	Messages int `json:"messages"`
	Cut      int `json:"cut"` // lines that a crash cut off
	Bytes    int `json:"bytes"`
	// Anew is when an agent found that an earlier file was gone, and began this one.
	Anew time.Time `json:"begun_anew,omitzero"`
	// link after the last line: note it to know later that none was taken off
	Last string `json:"last"`
	// Holds reports whether the link that Verify was asked for is one of the file's.
	Holds bool `json:"-"`
}

// ChainError is the first line of egress.jsonl that does not follow from those before.
type ChainError struct {
	File string
	Line int
}

func (e *ChainError) Error() string {
	return fmt.Sprintf("%s: line %d does not hold the hash of the lines before it: one of them was changed, put in or taken out", e.File, e.Line)
}

// Verify checks the chain of a data directory's egress.jsonl, which an agent may be writing, looks
// for a link that is known to be in it, if there is one, and shows see every message, if it is not
// nil. The error is a *ChainError or an I/O error.
func Verify(dir, link string, see func(SentMessage)) (Chain, error) {
	path := filepath.Join(dir, File)
	chain := Chain{Last: startOfChain, Holds: link == "" || link == startOfChain}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return chain, nil
	}
	if err != nil {
		return chain, err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, maxEgressLine)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			// what is left is being written, or was cut off and the next start ends it
			return chain, nil
		}
		if err != nil {
			return chain, fmt.Errorf("%s: line %d: %w", path, chain.Lines+1, err)
		}
		line = line[:len(line)-1]
		chain.Lines++
		var m Line
		bad := json.Unmarshal(line, &m) != nil
		switch {
		case bad: // the next line's hash says whether this is as it was written
			chain.Cut++
		case m.Prev != chain.Last:
			return chain, &ChainError{path, chain.Lines}
		}
		if !bad {
			if m.Kind == kindAnew {
				chain.Anew = m.Time
			}
			if m.sent() {
				chain.Messages++
				chain.Bytes += m.Bytes
			}
			if see != nil {
				see(SentMessage{chain.Lines, m.Time, m.Kind, m.Study, m.Query, m.Slot, m.Code, m.Bytes, m.SHA256})
			}
		}
		chain.Last = nextLink(chain.Last, line)
		chain.Holds = chain.Holds || chain.Last == link
	}
}
