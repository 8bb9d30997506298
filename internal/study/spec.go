package study

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// The values of Spec's enumerations.
const (
	ProfilePractical = "practical"
	ProfilePaper     = "paper"

	RadiusPrivate = "private"
	RadiusPaper   = "paper"

	AccountantZCDP  = "zcdp"
	AccountantPaper = "paper"

	ScheduleRising = "rising"
	ScheduleEven   = "even"

	OutputRandom = "random"
	OutputLast   = "last"
	OutputPooled = "pooled"
	OutputAuto   = "auto"

	DropoutWait     = "wait"
	DropoutContinue = "continue"

	MissingError   = "error"
	MissingDropRow = "drop-row"

	NoiseCentral = "central"
)

// Limits that keep a proposal's plan small enough to hold and to check.
const (
	MaxColumns = 100_000
	MaxRounds  = 500
	MaxSlots   = 1024
	MaxUnits   = 1 << 40
)

// Spec is study.toml: what the analyst asks for. Empty fields take the
// profile's defaults; a Proposal writes every one of them out.
type Spec struct {
	// Name is for people.
	Name string `toml:"name" json:"name"`
	// Dataset is the name under which each site's agent offers its rows.
	Dataset string `toml:"dataset" json:"dataset"`
	// Sites are the invited sites, in roster order; all joined sites if empty.
	Sites []string `toml:"sites,omitempty" json:"sites,omitempty"`
	// Epsilon and Delta are the privacy of everything that the study releases,
	// together, under replacement of one unit.
	Epsilon float64 `toml:"epsilon" json:"epsilon"`
	Delta   float64 `toml:"delta" json:"delta"`
	// Profile is "practical" (zCDP, 12 rounds, private radius, output "auto") or
	// "paper" (Algorithm 1 to the letter).
	Profile string `toml:"profile" json:"profile"`
	// Rounds is T. 0: from alpha, or the profile's default.
	Rounds int `toml:"rounds" json:"rounds"`
	// Alpha is the target error; it sets rounds where rounds is 0.
	Alpha float64 `toml:"alpha,omitempty" json:"alpha,omitempty"`
	// C is the constant of Algorithm 1; 1 if not given.
	C float64 `toml:"c,omitempty" json:"c,omitempty"`
	// Lambda is a public Λ with λ1 <= Λ <= 2 λ1, of the scaled columns.
	Lambda float64 `toml:"lambda,omitempty" json:"lambda,omitempty"`
	// Radius is the clip radius R: "private", "paper", or a public number.
	Radius Radius `toml:"radius" json:"radius"`
	// RadiusShare is the part of the budget that a private radius takes.
	RadiusShare float64 `toml:"radius_share,omitempty" json:"radius_share,omitempty"`
	// Accountant is "zcdp" or "paper" (the paper's τ).
	Accountant string `toml:"accountant" json:"accountant"`
	// Schedule splits the power steps' budget over rounds: "rising" (the charge of
	// round t is proportional to t+1) or "even".
	Schedule string `toml:"schedule" json:"schedule"`
	// Output is "auto", "pooled", "last" or "random".
	Output string `toml:"output" json:"output"`
	// Noise is "central".
	Noise string `toml:"noise" json:"noise"`
	// OnDropout is "wait" (every sum is over the same sites) or "continue".
	OnDropout string `toml:"on_dropout" json:"on_dropout"`
	// MinSurvivors raises U_min. 0: the default of the roster's size.
	MinSurvivors int `toml:"min_survivors,omitempty" json:"min_survivors,omitempty"`
	// SpareSlots bounds the retries of the whole study. 0: a quarter of the queries, at least 4.
	SpareSlots int `toml:"spare_slots,omitempty" json:"spare_slots,omitempty"`
	// Missing is "error" or "drop-row".
	Missing string `toml:"missing" json:"missing"`
	// Deadlines bound the waits.
	Deadlines Deadlines `toml:"deadlines" json:"deadlines"`
	// Columns are the data's columns in order, with public constants.
	Columns []Column `toml:"columns" json:"columns"`
}

// Column is one column: the value used is (value - offset) / scale. Both are
// public and never learned from data.
type Column struct {
	Name   string  `toml:"name" json:"name"`
	Offset float64 `toml:"offset" json:"offset"`
	Scale  float64 `toml:"scale" json:"scale"`
}

// Deadlines of a study.
type Deadlines struct {
	// Round is how long a query waits for uploads, and again for shares,
	// before the coordinator goes on without a site or says for whom it waits.
	Round Duration `toml:"round" json:"round"`
	// Tick is the grid of times on which results leave, so that the time that
	// sampling took says nothing.
	Tick Duration `toml:"tick" json:"tick"`
}

// Duration is a time.Duration written as text, such as "30s".
type Duration time.Duration

// UnmarshalText reads Go's duration form.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return errors.New(`a duration such as "30s" is wanted`)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes Go's duration form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Radius is "private", "paper" or a number, written as text or as a number.
type Radius string

// Public gives the number, if it is one.
func (r Radius) Public() (float64, bool) {
	v, err := strconv.ParseFloat(string(r), 64)
	return v, err == nil
}

// UnmarshalTOML reads the raw value: a string or a number.
func (r *Radius) UnmarshalTOML(raw []byte) error {
	*r = Radius(strings.Trim(strings.TrimSpace(string(raw)), `"'`))
	return nil
}

// ParseSpec reads study.toml strictly: an unknown key is an error that names it.
func ParseSpec(text []byte) (Spec, error) {
	var s Spec
	if err := decode(text, &s); err != nil {
		return Spec{}, err
	}
	if err := refuseZeros(text); err != nil {
		return Spec{}, err
	}
	if err := s.resolve(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// refuseZeros refuses a zero that somebody wrote: an absent key takes a default, and
// a 0 that is there is not meant as one.
func refuseZeros(text []byte) error {
	var written map[string]any
	if err := toml.Unmarshal(text, &written); err != nil {
		return fieldError("toml", "%v", err)
	}
	for _, key := range []string{"rounds", "alpha", "lambda", "c", "radius_share"} {
		if v := written[key]; v == int64(0) || v == 0.0 {
			return fieldError(key, "must be positive, got 0; leave it out for the default")
		}
	}
	return nil
}

func decode(text []byte, into any) error {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields().EnableUnmarshalerInterface()
	err := d.Decode(into)
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		return fieldError(strings.Join(strict.Errors[0].Key(), "."), "unknown key, line %d", row)
	}
	if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, col := bad.Position()
		return fieldError("toml", "line %d column %d: %s", row, col, strings.TrimPrefix(bad.Error(), "toml: "))
	}
	if err != nil {
		return fieldError("toml", "%v", err)
	}
	return nil
}

// resolve fills the profile's defaults in and checks every bound that needs
// no roster. It is idempotent, so that a proposal resolves to itself.
func (s *Spec) resolve() error {
	def(&s.Profile, ProfilePractical)
	if !slices.Contains([]string{ProfilePractical, ProfilePaper}, s.Profile) {
		return fieldError("profile", "must be %q or %q, got %q", ProfilePractical, ProfilePaper, s.Profile)
	}
	paper := s.Profile == ProfilePaper
	if paper {
		def(&s.Radius, RadiusPaper)
		def(&s.Accountant, AccountantPaper)
		def(&s.Schedule, ScheduleEven)
		def(&s.Output, OutputRandom)
	} else {
		def(&s.Radius, RadiusPrivate)
		def(&s.Accountant, AccountantZCDP)
		if s.Accountant == AccountantPaper {
			def(&s.Schedule, ScheduleEven)
		}
		def(&s.Schedule, ScheduleRising)
		def(&s.Output, OutputAuto)
		if s.Rounds == 0 && s.Alpha == 0 {
			s.Rounds = 12
		}
	}
	def(&s.Noise, NoiseCentral)
	def(&s.OnDropout, DropoutWait)
	def(&s.Missing, MissingError)
	def(&s.C, 1)
	def(&s.RadiusShare, 0.1)
	def(&s.Deadlines.Round, Duration(time.Minute))
	def(&s.Deadlines.Tick, Duration(100*time.Millisecond))
	return s.check()
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (s *Spec) check() error {
	if err := validText("name", s.Name); err != nil {
		return err
	}
	if err := validText("dataset", s.Dataset); err != nil {
		return err
	}
	if !(s.Epsilon > 0) || s.Epsilon > 100 {
		return fieldError("epsilon", "must be in (0, 100], got %v", s.Epsilon)
	}
	if !(s.Delta > 0 && s.Delta < 1) || s.Delta < 1e-15 {
		return fieldError("delta", "must be in [1e-15, 1), got %v", s.Delta)
	}
	if s.Alpha != 0 && !(s.Alpha > 0 && s.Alpha < 1) {
		return fieldError("alpha", "must be in (0, 1), got %v", s.Alpha)
	}
	if s.Rounds < 0 || s.Rounds > MaxRounds {
		return fieldError("rounds", "must be in 1..%d, got %d", MaxRounds, s.Rounds)
	}
	if s.Rounds == 0 && s.Alpha == 0 {
		return fieldError("rounds", "must be at least 1, or give alpha")
	}
	if !(s.C > 0) || s.C > 1e6 {
		return fieldError("c", "must be in (0, 1e6], got %v", s.C)
	}
	if s.Lambda != 0 && (!(s.Lambda > 0) || s.Lambda > 1e150) {
		return fieldError("lambda", "must be positive and at most 1e150, got %v", s.Lambda)
	}
	if !(s.RadiusShare > 0 && s.RadiusShare < 1) {
		return fieldError("radius_share", "must be in (0, 1), got %v", s.RadiusShare)
	}
	for _, e := range []struct {
		field, got string
		allowed    []string
	}{
		{"accountant", s.Accountant, []string{AccountantZCDP, AccountantPaper}},
		{"schedule", s.Schedule, []string{ScheduleRising, ScheduleEven}},
		{"output", s.Output, []string{OutputAuto, OutputPooled, OutputLast, OutputRandom}},
		{"noise", s.Noise, []string{NoiseCentral}},
		{"on_dropout", s.OnDropout, []string{DropoutWait, DropoutContinue}},
		{"missing", s.Missing, []string{MissingError, MissingDropRow}},
	} {
		if !slices.Contains(e.allowed, e.got) {
			return fieldError(e.field, "must be one of %q, got %q", e.allowed, e.got)
		}
	}
	if s.SpareSlots < 0 || s.SpareSlots > MaxSlots {
		return fieldError("spare_slots", "must be in 0..%d, got %d", MaxSlots, s.SpareSlots)
	}
	if err := s.checkRadius(); err != nil {
		return err
	}
	if s.Deadlines.Round < Duration(100*time.Millisecond) || s.Deadlines.Round > Duration(30*24*time.Hour) {
		return fieldError("deadlines.round", "must be in 100ms..720h, got %v", time.Duration(s.Deadlines.Round))
	}
	if s.Deadlines.Tick < Duration(time.Millisecond) || s.Deadlines.Tick > s.Deadlines.Round {
		return fieldError("deadlines.tick", "must be in 1ms..deadlines.round, got %v", time.Duration(s.Deadlines.Tick))
	}
	return s.checkColumns()
}

func (s *Spec) checkRadius() error {
	needLambda := s.Radius == RadiusPaper
	switch r, public := s.Radius.Public(); {
	case public:
		if !(r >= minRadius && r <= maxRadius) {
			return fieldError("radius", "must be in 2^-200..2^200, got %v", r)
		}
	case s.Radius != RadiusPrivate && s.Radius != RadiusPaper:
		return fieldError("radius", `must be "private", "paper" or a number, got %q`, string(s.Radius))
	}
	if needLambda && s.Lambda == 0 {
		return fieldError("lambda", `must be positive: radius = "paper" needs a public lambda`)
	}
	if s.Accountant == AccountantPaper {
		if s.Schedule != ScheduleEven {
			return fieldError("schedule", `accountant = "paper" has one τ for all rounds: "even"`)
		}
		if s.Radius == RadiusPrivate {
			return fieldError("accountant", `"paper" has no charge for a private radius; give a radius or use "zcdp"`)
		}
		if s.Epsilon > 1 {
			return fieldError("epsilon", `accountant = "paper" is proved for epsilon <= 1, got %v`, s.Epsilon)
		}
	}
	return nil
}

func (s *Spec) checkColumns() error {
	if len(s.Columns) == 0 {
		return fieldError("columns", "at least one column is needed")
	}
	if len(s.Columns) > MaxColumns {
		return fieldError("columns", "at most %d, got %d", MaxColumns, len(s.Columns))
	}
	seen := make(map[string]bool, len(s.Columns))
	for i := range s.Columns {
		c := &s.Columns[i]
		field := fmt.Sprintf("columns[%d]", i)
		if err := validText(field+".name", c.Name); err != nil {
			return err
		}
		if seen[c.Name] {
			return fieldError(field+".name", "%q appears twice", c.Name)
		}
		seen[c.Name] = true
		def(&c.Scale, 1)
		if math.IsNaN(c.Offset) || math.Abs(c.Offset) > 1e100 {
			return fieldError(field+".offset", "must be finite and at most 1e100, got %v", c.Offset)
		}
		if !(c.Scale >= 1e-100 && c.Scale <= 1e100) {
			return fieldError(field+".scale", "must be in 1e-100..1e100, got %v", c.Scale)
		}
	}
	seenSite := make(map[string]bool, len(s.Sites))
	for _, name := range s.Sites {
		if seenSite[name] {
			return fieldError("sites", "%q appears twice", name)
		}
		seenSite[name] = true
	}
	return nil
}

// validText keeps names printable on one line of a terminal.
func validText(field, v string) error {
	if v == "" {
		return fieldError(field, "must be given")
	}
	if len(v) > 200 {
		return fieldError(field, "at most 200 bytes, got %d", len(v))
	}
	for _, r := range v {
		if !strconv.IsPrint(r) {
			return fieldError(field, "holds an unprintable character")
		}
	}
	return nil
}
