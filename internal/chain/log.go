package chain

import (
	"encoding/json"
	"errors"
)

// MaxSteps is how many steps a site is shown in one message.
const MaxSteps = 1 << 15

// A Log is a coordinator's chain: every step and link from the first on. It takes 64 bytes an entry
// in memory, and 43 in a snapshot, where a release takes thousands. The zero Log has no entries.
type Log struct {
	steps []Step
	links []Link // links[i] follows with steps[i]
}

// Append extends the chain.
func (l *Log) Append(s Step) {
	l.links = append(l.links, l.Head().Link.next(s))
	l.steps = append(l.steps, s)
}

// Head returns the last link.
func (l *Log) Head() Head { return l.At(uint64(len(l.links))) }

// At returns the link of a number, which must be at most the head's.
func (l *Log) At(number uint64) Head {
	if number == 0 {
		return Head{Link: start()}
	}
	return Head{number, l.links[number-1]}
}

// Has reports whether a head is of this chain.
func (l *Log) Has(h Head) bool { return h.Number <= uint64(len(l.links)) && l.At(h.Number) == h }

// Since returns the steps that follow a number, at most MaxSteps. The caller must not change them.
func (l *Log) Since(number uint64) []Step {
	rest := l.steps[number:]
	return rest[:min(len(rest), MaxSteps)]
}

// MarshalJSON returns the steps, from which the links follow.
func (l Log) MarshalJSON() ([]byte, error) { return json.Marshal(Join(l.steps)) }

// UnmarshalJSON reads the steps and makes the links.
func (l *Log) UnmarshalJSON(raw []byte) error {
	var all []byte
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	steps, err := Split(all)
	*l = Log{}
	for _, s := range steps {
		l.Append(s)
	}
	return err
}

// IsZero reports whether there is no entry, for omitzero.
func (l Log) IsZero() bool { return len(l.steps) == 0 }

// Join returns steps one after another.
func Join(steps []Step) []byte {
	out := make([]byte, 0, len(steps)*len(Step{}))
	for _, s := range steps {
		out = append(out, s[:]...)
	}
	return out
}

var errSteps = errors.New("chain: steps that do not parse")

// Split reads what Join made.
func Split(raw []byte) ([]Step, error) {
	const size = len(Step{})
	if len(raw)%size != 0 {
		return nil, errSteps
	}
	out := make([]Step, 0, len(raw)/size)
	for ; len(raw) > 0; raw = raw[size:] {
		out = append(out, Step(raw[:size]))
	}
	return out, nil
}
