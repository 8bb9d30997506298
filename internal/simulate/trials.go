package simulate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"covey/internal/answer"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// Trials are studies of one spec on the same rows, each with a nonce and noise of its own.
type Trials struct {
	Spec   proposal.Spec
	Sites  []*Site
	Pooled *Pooled
	Law    *Pooled // where it is known: of a synthetic table
	Times  int
	// Key is the secret from which every nonce and all noise is drawn; except in tests it is drawn
	// anew each time.
	Key [32]byte
	// Step is called after each study, from several goroutines, one at a time. May be nil.
	Step func(done int)
}

// Outcome is one study.
type Outcome struct {
	// Ended is set where the study ended without a result, and then all else is zero.
	Ended study.Code `json:"ended,omitempty"`
	Fit   Fit        `json:"-"`
	// Captured and Angle are Fit's, measured on the pooled rows. CapturedLaw is measured on the law
	// where that is known: on its correlations if the study learned its constants.
	Captured    float64  `json:"captured"`
	CapturedLaw *float64 `json:"captured_law,omitempty"`
	Angle       float64  `json:"angle_degrees"` // the largest, between the spans
	Method      string   `json:"method"`
	Components  int      `json:"components"` // that the study found or was asked for
	// Correlated is [Pooled.correlated], with what it captures and its angle.
	Correlated         *Fit     `json:"-"`
	CapturedCorrelated *float64 `json:"captured_correlations,omitempty"`
	AngleCorrelated    *float64 `json:"angle_correlations_degrees,omitempty"`
	// Estimate and Lower are what the study's own result says of its captured share; nil where it
	// says nothing, and NoBound why.
	Estimate *float64 `json:"estimate,omitempty"`
	Lower    *float64 `json:"lower_95,omitempty"`
	NoBound  string   `json:"no_bound,omitempty"`
}

// Run runs the studies side by side, one to a processor, and returns what they found in order, and
// the first one's result, marked as simulated. Each study has rows of its own in the forms that its
// queries want, up to two copies of all sites' rows.
func (t Trials) Run(ctx context.Context) ([]Outcome, *result.Result, error) {
	out := make([]Outcome, t.Times)
	var first *result.Result
	var mu sync.Mutex
	done := 0
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range t.Times {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r, err := t.one(i, &out[i])
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if i == 0 {
				first = r
			}
			if done++; t.Step != nil {
				t.Step(done)
			}
			return nil
		})
	}
	err := g.Wait()
	return out, first, err
}

func (t Trials) one(i int, out *Outcome) (*result.Result, error) {
	key := func(of string, j int) [32]byte {
		text := append([]byte("covey simulate "+of+"\x00"), t.Key[:]...)
		return sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(text, uint64(i)), uint64(j)))
	}
	p, body, err := t.Plan(key("nonce", 0))
	if err != nil {
		return nil, err
	}
	var rows []*answer.Rows
	var sources []io.Reader
	for j, s := range t.Sites {
		rows = append(rows, answer.New(s.matrix)) // which changes no row of it
		sources = append(sources, noise.NewKeyed(key("share", j)))
	}
	r, err := Run(p, rows, append(sources, noise.NewKeyed(key("leader", 0))))
	if ended, ok := errors.AsType[*EndedError](err); ok {
		out.Ended = ended.Code
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Simulated, r.Proposal = true, body
	out.Fit = t.Pooled.Fit(r, r.Components)
	out.Captured, out.Angle, out.Method, out.Components = out.Fit.Captured, out.Fit.Angle, r.Method, r.K
	if c := t.Pooled.correlated(r); c != nil {
		out.Correlated, out.CapturedCorrelated, out.AngleCorrelated = c, &c.Captured, &c.Angle
	}
	if t.Law != nil {
		fit := t.Law.Fit(r, r.Components)
		out.CapturedLaw = &cmp.Or(t.Law.correlated(r), &fit).Captured
	}
	of, err := worth.Of(p, r)
	if err != nil {
		return nil, err
	}
	if of.Share != nil {
		out.Estimate, out.Lower = &of.Share.Estimate, &of.Share.Lower
	} else {
		out.NoBound = cmp.Or(of.Uncalibrated, "nothing stands out from the noise")
	}
	return r, nil
}

// Plan plans a study of the sites' rows, and returns its proposal's bytes.
func (t Trials) Plan(nonce [32]byte) (*study.Plan, []byte, error) {
	var units []int
	for _, s := range t.Sites {
		units = append(units, s.Units())
	}
	return Plan(t.Spec, units, nonce)
}

// Spread is how a number lies over studies.
type Spread struct {
	Median float64 `json:"median"`
	Tail   float64 `json:"tail_5_percent"` // the quantile 0.05 on the bad side
	Worst  float64 `json:"worst"`
}

// Report sums trials up.
type Report struct {
	Simulated bool    `json:"simulated"` // always true
	Times     int     `json:"times"`
	Seconds   float64 `json:"seconds"`
	// Ended counts studies without a result, by code; the spreads describe the others.
	Ended       map[study.Code]int `json:"ended,omitempty"`
	Captured    *Spread            `json:"captured"` // of the pooled rows; null where no study has a result
	CapturedLaw *Spread            `json:"captured_law,omitempty"`
	Angle       *Spread            `json:"angle_degrees"`
	// Angles are each component's own, to the pooled one of its number, over the studies that have
	// it.
	Angles  []Spread       `json:"component_angles_degrees"`
	Methods map[string]int `json:"methods"`
	// Components counts the studies by how many components they have, which differ where the study
	// finds their number: Captured and Angle are then of different numbers.
	Components map[int]int `json:"components"`
	// Bounds is how many of the studies stated a lower bound of their captured share, Held how many
	// captured at least that much of what it is of, and Lower their spread. That is the pooled
	// rows' variance, or their correlations where the study learned its constants.
	Bounds int     `json:"bounds"`
	Held   int     `json:"bounds_held"`
	Lower  *Spread `json:"lower_95,omitempty"`
	// NoBounds counts the studies that stated none, by why.
	NoBounds map[string]int `json:"no_bounds,omitempty"`
	// Correlated and what follows are as Captured, Angle and Angles, of the pooled rows'
	// correlations, over the studies that learned their constants.
	Correlated       *Spread  `json:"captured_correlations,omitempty"`
	AngleCorrelated  *Spread  `json:"angle_correlations_degrees,omitempty"`
	AnglesCorrelated []Spread `json:"component_angles_correlations_degrees,omitempty"`

	Studies []Outcome `json:"studies"`
}

// Sum returns the report of trials that took so long.
func Sum(studies []Outcome, took time.Duration) Report {
	r := Report{Simulated: true, Times: len(studies), Seconds: took.Seconds(), Ended: map[study.Code]int{}, Methods: map[string]int{}, Components: map[int]int{}, NoBounds: map[string]int{}, Studies: studies}
	var captured, law, angle, lower, correlated, turned []float64
	var fits, correlations []Fit
	for _, o := range studies {
		if o.Ended != "" {
			r.Ended[o.Ended]++
			continue
		}
		r.Methods[o.Method]++
		r.Components[o.Components]++
		captured, angle = append(captured, o.Captured), append(angle, o.Angle)
		if o.CapturedLaw != nil {
			law = append(law, *o.CapturedLaw)
		}
		fits = append(fits, o.Fit)
		if o.Correlated != nil {
			correlated, turned = append(correlated, o.Correlated.Captured), append(turned, o.Correlated.Angle)
			correlations = append(correlations, *o.Correlated)
		}
		if o.Lower != nil {
			r.Bounds++
			lower = append(lower, *o.Lower)
			if held := cmp.Or(o.CapturedCorrelated, &o.Captured); *held >= *o.Lower {
				r.Held++
			}
		} else {
			r.NoBounds[o.NoBound]++
		}
	}
	r.Captured, r.CapturedLaw, r.Lower = spread(captured, 1), spread(law, 1), spread(lower, 1)
	r.Angle, r.Angles = spread(angle, -1), angles(fits)
	r.Correlated, r.AngleCorrelated, r.AnglesCorrelated = spread(correlated, 1), spread(turned, -1), angles(correlations)
	return r
}

// angles is each component's own, over the fits that have it.
func angles(fits []Fit) (out []Spread) {
	for i := 0; ; i++ {
		var v []float64
		for _, f := range fits {
			if i < len(f.Angles) {
				v = append(v, f.Angles[i])
			}
		}
		if v == nil {
			return out
		}
		out = append(out, *spread(v, -1))
	}
}

// spread summarizes numbers of which larger ones are better, or with a negative sign smaller ones.
func spread(v []float64, sign float64) *Spread {
	if len(v) == 0 {
		return nil
	}
	s := slices.Clone(v)
	for i := range s {
		s[i] *= sign
	}
	slices.Sort(s)
	return &Spread{0 + sign*worth.Quantile(s, 0.5), 0 + sign*worth.Quantile(s, 0.05), 0 + sign*s[0]} // 0 + -0 is 0
}
