package proposal

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"covey/internal/name"
	"covey/internal/query"
)

// resolve fills the profile's defaults in and checks every bound that needs
// no roster. It is idempotent, so that a proposal resolves to itself.
func (s *Spec) resolve() error {
	def(&s.Profile, ProfilePractical)
	if !slices.Contains([]string{ProfilePractical, ProfilePaper}, s.Profile) {
		return FieldErrorf("profile", "must be %q or %q, got %.80q", ProfilePractical, ProfilePaper, s.Profile)
	}
	def(&s.Method, s.methodAsked())
	if s.Profile == ProfilePaper {
		s.resolvePaper()
	} else {
		s.resolvePractical()
	}
	def(&s.Components, 1)
	def(&s.Subspace, SubspaceBlock)
	s.learnConstants()
	if s.Components == ComponentsAuto {
		most := componentsMost
		if s.Standardizes() || s.Leveled() > 0 { // releases may leave columns out
			most = min(most, max(2, len(s.Columns)/2))
		}
		def(&s.ComponentsMax, most)
	}
	def(&s.Center, CenterPrivate)
	if s.PictureBy == PictureBySite || s.detail() != "" && !s.CentralDetail {
		def(&s.Noise, NoiseDistributed)
	}
	def(&s.Noise, NoiseCentral)
	if s.Noise == NoiseDistributed { // no exact sum is ever open: survivors may change
		def(&s.OnDropout, DropoutContinue)
	}
	def(&s.OnDropout, DropoutWait)
	def(&s.Missing, MissingError)
	def(&s.C, 1)
	if s.Method != MethodCovariance && s.Radius == RadiusPrivate && s.Unit == "" {
		def(&s.Rows, RowsAuto)
	}
	def(&s.Rows, RowsPlain)
	if s.Center == CenterPrivate && !s.Standardizes() {
		def(&s.CenterShare, 0.1)
	}
	if s.ExplainedVariance == VariancePrivate {
		def(&s.VarianceShare, 0.05)
	}
	s.resolvePicture()
	if s.Lambda == LambdaPrivate {
		def(&s.LambdaShare, 0.05)
	}
	if s.Method != MethodPower {
		def(&s.NormBound, BoundPrivate)
	}
	def(&s.Deadlines.Round, Duration(time.Minute))
	def(&s.Deadlines.Tick, Duration(time.Millisecond))
	return s.check()
}

// resolvePaper fills in what Algorithm 1 has. Its τ leaves nothing to pay for Λ or a mean.
func (s *Spec) resolvePaper() {
	def(&s.Radius, RadiusPaper)
	if s.Lambda == LambdaPrivate {
		def(&s.Accountant, AccountantGDP)
	}
	def(&s.Accountant, AccountantPaper)
	def(&s.ExplainedVariance, VarianceNone)
	def(&s.Schedule, ScheduleEven)
	def(&s.Output, OutputRandom)
	def(&s.Center, CenterPublic)
}

// resolvePractical fills in the practical profile's defaults, with the paper's accountant those
// that leave all of the budget to its τ.
func (s *Spec) resolvePractical() {
	def(&s.Radius, RadiusPrivate)
	def(&s.Accountant, AccountantGDP)
	if s.Accountant == AccountantPaper {
		def(&s.Schedule, ScheduleEven)
		def(&s.ExplainedVariance, VarianceNone)
		def(&s.Center, CenterPublic)
	}
	def(&s.Schedule, ScheduleRising)
	def(&s.Output, OutputAuto)
	def(&s.ExplainedVariance, VariancePrivate)
	if s.Rounds == 0 && s.Alpha == 0 {
		s.Rounds = PoolRounds
	}
}

// methodAsked is the method of a spec that names none: auto, but a key that only one of the methods
// has asks for that one.
func (s *Spec) methodAsked() string {
	_, bound := s.NormBound.Public()
	switch {
	case s.Profile == ProfilePaper, s.Accountant == AccountantPaper, s.Radius != "" && s.Radius != RadiusPrivate,
		s.Rounds > 0, s.Alpha != 0, s.Schedule != "", s.Output != "", s.Subspace == SubspaceDeflation, s.Rows != "", s.Start != nil:
		return MethodPower
	case bound:
		return MethodCovariance
	default:
		return MethodAuto
	}
}

// radius_share and bound_share of few units, where the proposal leaves them to their number: few
// need more for a histogram that stands out of its noise.
const (
	RadiusShareFew = 0.1
	BoundShareFew  = 0.04
)

// PoolRounds is how many rounds have a later half that has converged.
const PoolRounds = 24

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check returns the first bound that a resolved spec breaks, a *FieldError.
func (s *Spec) check() error {
	for _, check := range []func() error{
		s.checkNames, s.checkBudget, s.checkComponents, s.checkWords, s.checkDropout,
		s.checkStandardize, s.checkDetail, s.checkLeveled, s.checkIndicators, s.checkRadius, s.checkPicture,
		s.checkNumbers, s.checkMethod, s.checkStart, s.checkUnit, s.checkShares, s.Expires.check, s.checkAbout, s.Deadlines.check, s.checkColumns,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) checkNames() error {
	if err := validText("name", s.Name); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(s.Name) != s.Name: // people type it
		return FieldErrorf("name", "must not begin or end with a space, got %q", s.Name)
	case looksLikeDigest(s.Name):
		return FieldErrorf("name", "must not be four or more hexadecimal digits and nothing else: they stand for a digest; got %q", s.Name)
	}
	return validText("dataset", s.Dataset)
}

// checkBudget checks ε and δ, what they cover, and the rounds that share them.
func (s *Spec) checkBudget() error {
	switch {
	case !(s.Epsilon > 0) || s.Epsilon > 100:
		return FieldErrorf("epsilon", "must be in %s, got %v", bounds["epsilon"], s.Epsilon)
	case !(s.Delta > 0 && s.Delta < 1) || s.Delta < 1e-15:
		return FieldErrorf("delta", "must be in %s, got %v", bounds["delta"], s.Delta)
	case s.SitesPerUnit < 0 || s.SitesPerUnit > MaxSites:
		return FieldErrorf("sites_per_unit", "must be in 1..%d, got %d", MaxSites, s.SitesPerUnit)
	case s.Alpha != 0 && !(s.Alpha > 0 && s.Alpha < 1):
		return FieldErrorf("alpha", "must be in (0, 1), got %v", s.Alpha)
	case s.Rounds < 0 || s.Rounds > MaxRounds:
		return FieldErrorf("rounds", "must be in 1..%d, got %d", MaxRounds, s.Rounds)
	case s.Rounds == 0 && s.Alpha == 0:
		return FieldErrorf("rounds", "must be at least 1, or give alpha")
	case !(s.C > 0) || s.C > 1e6:
		return FieldErrorf("c", "must be in (0, 1e6], got %v", s.C)
	}
	return nil
}

// checkWords checks the fields that are one of a few words.
func (s *Spec) checkWords() error {
	for _, e := range []struct {
		field, got string
		allowed    []string
	}{
		{"accountant", s.Accountant, []string{AccountantGDP, AccountantZCDP, AccountantPaper}},
		{"schedule", s.Schedule, []string{ScheduleRising, ScheduleEven}},
		{"output", s.Output, []string{OutputAuto, OutputPooled, OutputLast, OutputRandom}},
		{"noise", s.Noise, []string{NoiseCentral, NoiseDistributed}},
		{"method", s.Method, []string{MethodPower, MethodCovariance, MethodAuto}},
		{"rows", s.Rows, []string{RowsAuto, RowsSphere, RowsPlain}},
		{"subspace", s.Subspace, []string{SubspaceBlock, SubspaceDeflation}},
		{"center", s.Center, []string{CenterPublic, CenterPrivate, CenterPairs}},
		{"standardize", s.Standardize, []string{StandardizeNone, StandardizePrivate}},
		{"explained_variance", s.ExplainedVariance, []string{VariancePrivate, VarianceNone}},
		{"on_dropout", s.OnDropout, []string{DropoutWait, DropoutContinue}},
		{"missing", s.Missing, []string{MissingError, MissingDropRow, MissingZero, MissingFill}},
	} {
		if !slices.Contains(e.allowed, e.got) {
			return FieldErrorf(e.field, "must be one of %q, got %.80q", e.allowed, e.got)
		}
	}
	return nil
}

// checkDropout checks what a study does without some of its sites.
func (s *Spec) checkDropout() error {
	switch {
	case s.MinSurvivors != 0 && s.Waits():
		return FieldErrorf("min_survivors", `is of no use with on_dropout = "wait": every sum is over all sites; got %d`, s.MinSurvivors)
	case !(s.Dropout >= 0 && s.Dropout < 0.5):
		return FieldErrorf("dropout", "must be at least 0 and below 0.5, got %g", s.Dropout)
	case s.SpareSlots < 0 || s.SpareSlots > MaxSlots:
		return FieldErrorf("spare_slots", "must be in 0..%d, got %d", MaxSlots, s.SpareSlots)
	}
	return nil
}

func (d Deadlines) check() error {
	if d.Round < Duration(100*time.Millisecond) || d.Round > Duration(30*24*time.Hour) {
		return FieldErrorf("deadlines.round", "must be in 100ms..720h, got %v", time.Duration(d.Round))
	}
	if d.Tick < Duration(time.Millisecond) || d.Tick > d.Round {
		return FieldErrorf("deadlines.tick", "must be in 1ms..deadlines.round, got %v", time.Duration(d.Tick))
	}
	return nil
}

func (s *Spec) checkRadius() error {
	switch r, public := s.Radius.Public(); {
	case public:
		if !(r >= query.MinRadius && r <= query.MaxRadius) {
			return FieldErrorf("radius", "must be in 2^-200..2^200, got %v", r)
		}
	case s.Radius != RadiusPrivate && s.Radius != RadiusPaper:
		return FieldErrorf("radius", `must be "private", "paper" or a number such as 2.5, got %.80q`, string(s.Radius))
	}
	if s.Radius == RadiusPaper && s.Lambda == "" {
		return FieldErrorf("lambda", `must be positive: radius = "paper" needs a public lambda, or "private"`)
	}
	if s.Accountant == AccountantPaper {
		return s.checkPaper()
	}
	return nil
}

// checkPaper refuses what Algorithm 1's own τ has no charge for.
func (s *Spec) checkPaper() error {
	const why = `accountant = "paper" has a charge for power steps of one component alone; use "gdp"`
	switch {
	case s.Schedule != ScheduleEven:
		return FieldErrorf("schedule", `accountant = "paper" has one τ for all rounds: "even"`)
	case s.Radius == RadiusPrivate:
		return FieldErrorf("accountant", `"paper" has no charge for a private radius; give a radius or use "gdp"`)
	case s.Epsilon > 1:
		return FieldErrorf("epsilon", `accountant = "paper" is proved for epsilon <= 1, got %v`, s.Epsilon)
	case s.Method != MethodPower:
		return FieldErrorf("method", why)
	case s.Components != 1:
		return FieldErrorf("components", why)
	case s.Center == CenterPrivate:
		return FieldErrorf("center", why)
	case s.Missing != MissingError:
		return FieldErrorf("missing", why)
	case s.ExplainedVariance != VarianceNone:
		return FieldErrorf("explained_variance", why)
	case s.Lambda == LambdaPrivate:
		return FieldErrorf("lambda", why)
	case s.Noise != NoiseCentral:
		return FieldErrorf("noise", why)
	}
	return nil
}

// checkShares keeps the parts of the budget positive and their sum below one.
func (s *Spec) checkShares() error {
	left := 1.0
	for _, f := range []struct {
		field string
		share float64
		on    bool
	}{
		{"radius_share", s.RadiusShare, s.Radius == RadiusPrivate && s.Method != MethodCovariance},
		{"center_share", s.CenterShare, s.Center == CenterPrivate && !s.Standardizes()},
		{"variance_share", s.VarianceShare, s.ExplainedVariance == VariancePrivate},
		{"picture_share", s.PictureShare, s.Picture},
		{"lambda_share", s.LambdaShare, s.Lambda == LambdaPrivate},
		{"bound_share", s.BoundShare, s.Method != MethodPower && s.NormBound == BoundPrivate},
	} {
		if f.share == 0 { // the most that the number of units makes of it
			switch {
			case f.field == "radius_share":
				f.share = RadiusShareFew
			case f.field == "bound_share" && f.on:
				f.share = BoundShareFew
			}
		}
		if (f.on || f.field == "radius_share") && !(f.share > 0 && f.share < 1) {
			return FieldErrorf(f.field, "must be in (0, 1), got %v", f.share)
		}
		if !f.on && f.field != "radius_share" && f.share != 0 {
			return FieldErrorf(f.field, "has no effect: nothing is bought with it")
		}
		if f.on {
			left -= f.share
		}
	}
	if left < 0.1 {
		return FieldErrorf("epsilon", "at least 0.1 of the budget must remain after all shares, got %.3g", left)
	}
	return nil
}

// checkNumbers checks Λ and the norm bound, which are public numbers or bought.
func (s *Spec) checkNumbers() error {
	lambda, publicLambda := s.Lambda.Public()
	bound, publicBound := s.NormBound.Public()
	span := s.LambdaRange
	switch {
	case publicLambda && !(lambda > 0 && lambda <= 1e150):
		return FieldErrorf("lambda", "must be positive and at most 1e150, got %v", lambda)
	case !publicLambda && s.Lambda != "" && s.Lambda != LambdaPrivate:
		return FieldErrorf("lambda", `must be "private" or a number such as 2.5, got %.80q`, string(s.Lambda))
	case publicBound && !(bound >= 0x1p-100 && bound <= 0x1p100):
		return FieldErrorf("norm_bound", "must be in 2^-100..2^100, got %v", bound)
	case !publicBound && s.NormBound != "" && s.NormBound != BoundPrivate:
		return FieldErrorf("norm_bound", `must be "private" or a number such as 2.5, got %.80q`, string(s.NormBound))
	case s.NormBound != "" && s.Method == MethodPower:
		return FieldErrorf("norm_bound", `has no effect with method = "power"`)
	case s.Lambda == LambdaPrivate && (s.Radius != RadiusPaper || s.Method == MethodCovariance):
		return FieldErrorf("lambda", `"private" is bought for radius = "paper" alone; radius = "private" needs none`)
	case span != nil && s.Lambda != LambdaPrivate:
		return FieldErrorf("lambda_range", `needs lambda = "private"`)
	case span != nil && (len(span) != 2 || !(span[0] >= 0x1p-200) || !(span[1] <= 0x1p200) || !(span[0] < span[1])):
		return FieldErrorf("lambda_range", "must be two numbers in 2^-200..2^200, the smaller first")
	}
	return nil
}

// checkMethod checks what a method cannot have.
func (s *Spec) checkMethod() error {
	switch {
	case s.Center == CenterPairs && s.Unit != "":
		return FieldErrorf("center", `"pairs" needs one row per unit: the difference of two units of several rows is not a row of either`)
	case s.Method == MethodCovariance && s.Subspace != SubspaceBlock:
		return FieldErrorf("subspace", `is of method = "power"; the covariance has all components at once`)
	case s.Method == MethodAuto && (s.Radius != RadiusPrivate || s.NormBound != BoundPrivate):
		return FieldErrorf("method", `"auto" compares a private radius with a private norm bound`)
	case s.Rows != RowsPlain && s.Method == MethodCovariance:
		return FieldErrorf("rows", `%q is of power iteration`, s.Rows)
	case s.Rows != RowsPlain && s.Radius != RadiusPrivate:
		return FieldErrorf("rows", `%q needs radius = "private"`, s.Rows)
	case s.Rows != RowsPlain && s.Unit != "":
		return FieldErrorf("rows", `%q needs one row per unit`, s.Rows)
	}
	return nil
}

// Unused returns the keys that a resolved spec gives for power iteration alone although its method
// is the covariance: they have no effect. A key that has its default value is not among them.
func (s *Spec) Unused() (keys []string) {
	if s.Method != MethodCovariance {
		return nil
	}
	for _, f := range []struct {
		key   string
		asked bool
	}{
		{"alpha", s.Alpha != 0},
		{"rounds", s.Rounds != 0 && s.Rounds != PoolRounds},
		{"radius", s.Radius != RadiusPrivate},
		{"radius_share", s.RadiusShare != 0},
		{"schedule", s.Schedule != ScheduleRising},
		{"output", s.Output != OutputAuto},
	} {
		if f.asked {
			keys = append(keys, f.key)
		}
	}
	return keys
}

func (s *Spec) checkUnit() error {
	if s.Unit == "" {
		return nil
	}
	if err := validColumn("unit", s.Unit); err != nil {
		return err
	}
	for _, c := range s.Columns {
		if c.Name == s.Unit {
			return FieldErrorf("unit", "%q is also a data column", s.Unit)
		} else if name.Plain(c.Name) == name.Plain(s.Unit) {
			return alike("unit", s.Unit, c.Name)
		}
	}
	return nil
}

// alike refuses a name that a person could take for another of the study.
func alike(field, text, other string) error {
	return FieldErrorf(field, "%+q looks like %+q, from which it differs only by joiners", text, other)
}

func (s *Spec) checkColumns() error {
	if len(s.Columns) == 0 {
		return FieldErrorf("columns", "at least one column is needed")
	}
	if len(s.Columns) > MaxColumns {
		return FieldErrorf("columns", "at most %d, got %d", MaxColumns, len(s.Columns))
	}
	seen := make(map[string]string, len(s.Columns))
	for i := range s.Columns {
		c := &s.Columns[i]
		field := fmt.Sprintf("columns[%d]", i)
		if err := validColumn(field+".name", c.Name); err != nil {
			return err
		}
		plain := name.Plain(c.Name)
		if other := seen[plain]; other == c.Name {
			return FieldErrorf(field+".name", "%q appears twice", c.Name)
		} else if other != "" {
			return alike(field+".name", c.Name, other)
		}
		seen[plain] = c.Name
		if err := c.checkLevels(field); err != nil {
			return err
		}
		def(&c.Scale, 1)
		// Tiny ones would make numbers of zeros that take a processor long (package answer).
		if size := math.Abs(c.Offset); size != 0 && !(size >= 1e-30 && size <= 1e30) {
			return FieldErrorf(field+".offset", "must be 0 or of a size in 1e-30..1e30, got %v", c.Offset)
		}
		if !(c.Scale >= 1e-30 && c.Scale <= 1e30) {
			return FieldErrorf(field+".scale", "must be in 1e-30..1e30, got %v", c.Scale)
		}
		if err := c.check(field); err != nil {
			return err
		}
	}
	if err := s.checkCoordinates(); err != nil {
		return err
	}
	seenSite := make(map[string]bool, len(s.Sites))
	for _, name := range s.Sites {
		if seenSite[name] {
			return FieldErrorf("sites", "%q appears twice", name)
		}
		seenSite[name] = true
	}
	return nil
}

// validColumn is validText of a column's name. Sites have none with spaces around it: they take
// them off what they read.
func validColumn(field, v string) error {
	if err := validText(field, v); err != nil {
		return err
	}
	if strings.TrimSpace(v) != v {
		return FieldErrorf(field, "has spaces around it: %q", v)
	}
	return nil
}

// validText keeps names printable on one line of a terminal.
func validText(field, v string) error {
	if v == "" {
		return FieldErrorf(field, "must be given")
	}
	if len(v) > 200 {
		return FieldErrorf(field, "at most 200 bytes, got %d", len(v))
	}
	if why := name.Fault(v); why != "" {
		return FieldErrorf(field, "%s", why)
	}
	return nil
}

// validName accepts what can be joined under: a letter that shows nothing would make two names look
// like one.
func validName(field, v string) error {
	if !name.Valid(v) {
		return FieldErrorf(field, "must be 1 to 63 characters from a-z, 0-9 and -, with no - at either end")
	}
	return nil
}
