package proposal

import (
	"bytes"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"covey/internal/strict"
	"covey/internal/studyfile"
)

// The values of Spec's enumerations.
const (
	ProfilePractical = "practical"
	ProfilePaper     = "paper"

	RadiusPrivate = "private"
	RadiusPaper   = "paper"

	AccountantGDP   = "gdp"
	AccountantZCDP  = "zcdp"
	AccountantPaper = "paper"

	ScheduleRising = "rising"
	ScheduleEven   = "even"

	OutputRandom = "random"
	OutputLast   = "last"
	OutputPooled = "pooled"
	OutputAuto   = "auto"
	// OutputCovariance names what method = "covariance" gives; it cannot be asked for.
	OutputCovariance = "covariance"
	// OutputPosterior names what power rounds that follow parts of a covariance give; it cannot be
	// asked for.
	OutputPosterior = "posterior"

	DropoutWait     = "wait"
	DropoutContinue = "continue"

	MissingError   = "error"
	MissingDropRow = "drop-row"
	MissingZero    = "zero"
	MissingFill    = "fill"

	NoiseCentral     = "central"
	NoiseDistributed = "distributed"

	SubspaceBlock     = "block"
	SubspaceDeflation = "deflation"

	RowsAuto   = "auto"
	RowsSphere = "sphere"
	RowsPlain  = "plain"

	MethodPower      = "power"
	MethodCovariance = "covariance"
	MethodAuto       = "auto"

	CenterPublic  = "public"
	CenterPrivate = "private"
	CenterPairs   = "pairs"

	StandardizeNone    = "none"
	StandardizePrivate = "private"

	LambdaPrivate = "private"

	BoundPrivate = "private"

	VariancePrivate = "private"
	VarianceNone    = "none"
)

// Limits that keep a proposal's plan small enough to hold and to check.
const (
	MaxColumns = 100_000
	MaxRounds  = 500
	MaxSlots   = 1024
	MaxUnits   = 1 << 40
	// MaxValues is how many numbers the answer of one query may have.
	MaxValues = 2_100_000
	// MaxCovariance is the most columns of method = "covariance".
	MaxCovariance = 2_000
	// MaxComponents is the most components.
	MaxComponents = 100
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
	// Readers are the analysts who may read the result, besides the proposer, the sites of the
	// roster and the coordinator. A proposal has them with their keys instead.
	Readers []string `toml:"readers,omitempty" json:"readers,omitempty"`
	// Epsilon and Delta are the privacy of everything that the study releases,
	// together, under replacement of one unit, at SitesPerUnit sites.
	Epsilon float64 `toml:"epsilon" json:"epsilon"`
	Delta   float64 `toml:"delta" json:"delta"`
	// Profile is "practical" (method "auto", private radii) or "paper" (Algorithm 1 to the letter).
	Profile string `toml:"profile" json:"profile"`
	// Components is k, how many principal components are asked for, or ComponentsAuto; 1 if not
	// given.
	Components Components `toml:"components" json:"components"`
	// ComponentsMax is the most that "auto" finds, and no more than columns. If not given it is 10,
	// and half the columns at most where releases decide which columns take part.
	ComponentsMax int `toml:"components_max,omitempty" json:"components_max,omitempty"`
	// Method is "power" (power iteration: T sums of d·k numbers), "covariance" (up to three sums of
	// d(d+1)/2 numbers) or "auto", which decides by public sizes first and by private radii then.
	Method string `toml:"method" json:"method"`
	// Rows is what power iteration works on: "sphere" (each row divided by its length, where a unit
	// is one row), "plain" (rows as they are) or "auto" (the sphere where noise limits).
	Rows string `toml:"rows" json:"rows"`
	// Start is where power iteration starts; nil: at public random directions.
	Start *Start `toml:"start,omitempty" json:"start,omitempty"`
	// Subspace is how power iteration finds k > 1 components: "block" (all at once,
	// with QR) or "deflation" (one after another, each with its share of the budget).
	Subspace string `toml:"subspace" json:"subspace"`
	// Center is "public" (the columns' offsets are all), "private" (a released mean
	// is taken off, for center_share of the budget) or "pairs" (differences of
	// disjoint pairs of rows: half as many units, no budget). "private" if not given,
	// "public" with profile or accountant "paper".
	Center string `toml:"center" json:"center"`
	// Standardize is "none" (every column's offset and scale are public constants) or "private"
	// (those of columns that give none are learned, for a part of the budget that depends on the
	// number of units and columns, and the components are those of the correlation matrix). "none"
	// if not given, and "private" if a column asks for it.
	Standardize string `toml:"standardize" json:"standardize"`
	// CentralDetail allows noise = "central" in a study that counts or scales columns one by one,
	// where it is refused otherwise: of a column or a value that one site alone has, the
	// coordinator's leader then reads that site's exact sums.
	CentralDetail bool `toml:"central_detail,omitempty" json:"central_detail,omitempty"`
	// CenterShare is the part of the budget that center = "private" takes.
	CenterShare float64 `toml:"center_share,omitempty" json:"center_share,omitempty"`
	// Unit names the column whose value says which rows are one unit; a row is one
	// if not given. A unit with rows at two sites is two units: see SitesPerUnit.
	Unit string `toml:"unit,omitempty" json:"unit,omitempty"`
	// SitesPerUnit is at how many sites one person, or whatever a unit is, may be, at most the
	// number of sites. 0: 1. Replacing such a person replaces one unit at each of so many sites,
	// and epsilon and delta then hold for that: every query's sensitivity is so many times one
	// unit's.
	SitesPerUnit int `toml:"sites_per_unit,omitempty" json:"sites_per_unit,omitempty"`
	// ExplainedVariance is "private" (bought for variance_share of the budget) or "none".
	ExplainedVariance string `toml:"explained_variance" json:"explained_variance"`
	// VarianceShare is the part of the budget that explained variance takes.
	VarianceShare float64 `toml:"variance_share,omitempty" json:"variance_share,omitempty"`
	// Picture asks for noised histograms of all units' scores: of each component, and of the pairs
	// of components in PicturePairs, for PictureShare of the budget together.
	Picture bool `toml:"picture,omitempty" json:"picture,omitempty"`
	// PictureShare is the part of the budget that pictures and score histograms take.
	PictureShare float64 `toml:"picture_share,omitempty" json:"picture_share,omitempty"`
	// PicturePairs are pairs of components, from 1, by falling variance; [[1, 2]] if not given.
	PicturePairs [][]int `toml:"picture_pairs,omitempty" json:"picture_pairs,omitempty"`
	// PictureBy divides each picture into groups: PictureByColumn (a unit's rows by their level in
	// PictureColumn) or PictureBySite (each site fills a block of its own). One group if empty.
	PictureBy     string `toml:"picture_by,omitempty" json:"picture_by,omitempty"`
	PictureColumn string `toml:"picture_column,omitempty" json:"picture_column,omitempty"`
	// Rounds is T. 0: from alpha, or the profile's default.
	Rounds int `toml:"rounds,omitempty" json:"rounds"`
	// Alpha is the target error; it sets rounds where rounds is 0.
	Alpha float64 `toml:"alpha,omitempty" json:"alpha,omitempty"`
	// C is the constant of Algorithm 1; 1 if not given.
	C float64 `toml:"c,omitempty" json:"c,omitempty"`
	// Lambda is a public Λ with λ1 <= Λ <= 2 λ1, of the scaled columns, or "private".
	Lambda Scalar `toml:"lambda,omitempty" json:"lambda,omitempty"`
	// LambdaRange is a public range that Λ is known to lie in: a private Λ is then
	// chosen among its powers of two by the exponential mechanism, else by a histogram.
	LambdaRange []float64 `toml:"lambda_range,omitempty" json:"lambda_range,omitempty"`
	// LambdaShare is the part of the budget that a private Λ takes.
	LambdaShare float64 `toml:"lambda_share,omitempty" json:"lambda_share,omitempty"`
	// Radius is the clip radius R: "private", "paper", or a public number.
	Radius Scalar `toml:"radius" json:"radius"`
	// RadiusShare is the part of the budget that a private radius takes. 0: by the number of units.
	RadiusShare float64 `toml:"radius_share,omitempty" json:"radius_share,omitempty"`
	// NormBound is B, the norm at which method = "covariance" clips a row: "private" or
	// a public number.
	NormBound Scalar `toml:"norm_bound,omitempty" json:"norm_bound,omitempty"`
	// BoundShare is the part of the budget that a private norm bound takes. 0: by the number of
	// units.
	BoundShare float64 `toml:"bound_share,omitempty" json:"bound_share,omitempty"`
	// Accountant is "gdp" (the Gaussian's exact curve), "zcdp" or "paper" (the paper's τ).
	Accountant string `toml:"accountant" json:"accountant"`
	// Schedule splits the power steps' budget over rounds: "rising" (the charge of
	// round t is proportional to t+1) or "even".
	Schedule string `toml:"schedule" json:"schedule"`
	// Output is "auto", "pooled", "last" or "random".
	Output string `toml:"output" json:"output"`
	// Noise is "central" (the coordinator's leader adds it to the opened sum) or
	// "distributed" (every site adds its share before masking).
	Noise string `toml:"noise" json:"noise"`
	// OnDropout is "wait" (every sum is over all sites) or "continue".
	OnDropout string `toml:"on_dropout" json:"on_dropout"`
	// MinSurvivors raises U_min where on_dropout is "continue". 0: the default of the roster's
	// size.
	MinSurvivors int `toml:"min_survivors,omitempty" json:"min_survivors,omitempty"`
	// Corrupt is η, how many sites may collude with the coordinator. 0: ⌊(N-1)/3⌋. Fewer need
	// fewer survivors, and above 64 sites fewer neighbors.
	Corrupt int `toml:"corrupt,omitempty" json:"corrupt,omitempty"`
	// Dropout is the share of sites that may be away at once, independently of each other, for
	// which the graph of more than 64 sites is made; 0.1 if not given.
	Dropout float64 `toml:"dropout,omitempty" json:"dropout,omitempty"`
	// SpareSlots bounds the retries of the whole study. 0: a quarter of the queries, at least 4;
	// none where on_dropout is "wait", since a slot that waits is never given up.
	SpareSlots int `toml:"spare_slots,omitempty" json:"spare_slots,omitempty"`
	// Missing is "error" or what becomes of missing values, and of values that are no numbers, too:
	// "drop-row" leaves their rows out, and counts the rows that are kept, noised, for 1% of the
	// budget. "fill" sets a cell to what the last released components predict from the row's
	// others, "zero" to the center, and both count, noised, the empty cells of each column, for
	// about 1%.
	Missing string `toml:"missing" json:"missing"`
	// Expires is when the study can no longer start: sites that have not approved by then need not.
	// Never, if not given.
	Expires Expiry `toml:"expires,omitempty" json:"expires,omitempty"`
	// Deadlines bound the waits.
	Deadlines Deadlines `toml:"deadlines" json:"deadlines"`
	// About is for the people who decide.
	About About `toml:"about,omitempty" json:"about,omitzero"`
	// Defaults are what columns take of keys that their tables do not have. A proposal has none:
	// each of its columns has all of them written out.
	Defaults *Column `toml:"defaults,omitempty" json:"-"`
	// Columns are the data's columns in order, with public constants.
	Columns []Column `toml:"columns" json:"columns"`
}

// Column is one column: the value used is (value - offset) / scale. Both are
// public; study.toml has both, or scale = 1 for values as they are, or the study learns them.
type Column struct {
	Name   string  `toml:"name" json:"name"`
	Offset float64 `toml:"offset" json:"offset"`
	Scale  float64 `toml:"scale" json:"scale"`
	// Measure is the unit of measurement, such as "mg/dL", and Range the lowest and the highest
	// plausible value: for people to compare with their own. They decide nothing.
	Measure string    `toml:"measure,omitempty" json:"measure,omitempty"`
	Range   []float64 `toml:"range,omitempty" json:"range,omitempty"`
	// Levels are the texts of a column of categories, up to 64. Each is a coordinate, 1 in the rows
	// that have it and else 0, and one more stands for all other texts. Such a column has no offset
	// and scale: released counts center and scale it.
	Levels []string `toml:"levels,omitempty" json:"levels,omitempty"`
	// As is what a cell is read as: a number if not given, "boolean" (true, t, yes, y and 1 are 1,
	// false, f, no, n and 0 are 0, in any case of letters) or "days since YYYY-MM-DD" (of dates
	// such as 2024-05-31, with a time of day or without). Any other text is then a missing value.
	As string `toml:"as,omitempty" json:"as,omitempty"`
	// Standardize is "private" where offset and scale are learned; they are then 0 and 1 here.
	Standardize string `toml:"standardize,omitempty" json:"standardize,omitempty"`
	// Indicator adds a coordinate that is 1 in the rows without a value in this column, else 0,
	// centered and scaled by their released share. Of missing = "fill" and "zero".
	Indicator bool `toml:"indicator,omitempty" json:"indicator,omitempty"`
}

// Deadlines of a study.
type Deadlines struct {
	// Round is how long a query waits for uploads, and again for shares,
	// before the coordinator goes on without a site or says for whom it waits.
	Round Duration `toml:"round" json:"round"`
	// Tick is the part of a query's tick that does not depend on its draws (study.Plan.Tick); 1 ms
	// if not given. An opened sum goes on a whole number of ticks after the drawing of its noise
	// began, so that the sampling time reveals nothing.
	Tick Duration `toml:"tick" json:"tick"`
}

// Duration is a time.Duration written as text, such as "30s".
type Duration time.Duration

// UnmarshalText reads Go's duration form.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return errors.New(`must be a duration such as "30s"`)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes Go's duration form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Scalar is a number or a word such as "private", written as text or as a number.
type Scalar string

// mostDigits bounds a Scalar that is a number: the longest float64 in its shortest form has 24
// characters.
const mostDigits = 40

// Public returns the number, if it is one, of decimal digits: people are shown the text, and would
// read neither 0x1p3 nor a thousand zeros.
func (r Scalar) Public() (float64, bool) {
	if len(r) > mostDigits || strings.Trim(string(r), "0123456789+-.eE") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(r), 64)
	return v, err == nil
}

// UnmarshalTOML reads the raw value: a string or a number.
func (r *Scalar) UnmarshalTOML(raw []byte) error {
	*r = Scalar(strings.Trim(strings.TrimSpace(string(raw)), `"'`))
	return nil
}

// ParseSpec reads study.toml strictly: an unknown key is an error that names it.
func ParseSpec(text []byte) (Spec, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with it
	file, err := studyfile.Read(text, MaxColumns)
	if err != nil {
		return Spec{}, located(&studyfile.File{Text: text}, err)
	}
	if err := decode(file.Shape, new(Spec)); err != nil {
		return Spec{}, err
	}
	var s Spec
	if err := decode(file.Text, &s); err != nil {
		return Spec{}, err
	}
	for _, check := range []func() error{func() error { return s.takeDefaults(file) }, file.CheckZeros, func() error { return s.given(file) }, s.resolve, func() error { return file.CheckConstants(s.scaled) }} {
		if err := check(); err != nil {
			return Spec{}, located(file, err)
		}
	}
	return s, nil
}

// bounds are those of keys that have no default, in words.
var bounds = map[string]string{"epsilon": "(0, 100]", "delta": "[1e-15, 1)"}

// given refuses a file without a key that has no default.
func (s *Spec) given(file *studyfile.File) error {
	for i, v := range []float64{s.Epsilon, s.Delta} {
		if field := []string{"epsilon", "delta"}[i]; v == 0 && strict.Line(file.Text, field) == 0 {
			return FieldErrorf(field, "must be given, in %s", bounds[field])
		}
	}
	return nil
}

// takeDefaults writes into each column what its table leaves to [defaults].
func (s *Spec) takeDefaults(file *studyfile.File) error {
	if s.Defaults == nil {
		return nil
	}
	if s.Defaults.Name != "" {
		return FieldErrorf("defaults.name", "is each column's own: [defaults] holds what columns have in common")
	}
	from, fields := reflect.ValueOf(*s.Defaults), map[string]int{}
	for i := range from.NumField() {
		fields[keyOf(from.Type().Field(i))] = i
	}
	for i := range s.Columns {
		to := reflect.ValueOf(&s.Columns[i]).Elem()
		for _, key := range file.Defaults(i) {
			to.Field(fields[key]).Set(from.Field(fields[key]))
		}
	}
	s.Defaults = nil
	return nil
}

// scaled reports whether the study itself scales a column.
func (s *Spec) scaled(i int) bool {
	return s.Columns[i].Standardize == StandardizePrivate || len(s.Columns[i].Levels) > 0
}

// located returns a FieldError that names a field as the file has it, and its line.
func located(file *studyfile.File, err error) error {
	if bad, ok := errors.AsType[*strict.Error](err); ok {
		err = FieldErrorf(bad.Key, "%s", bad.Reason)
	}
	if bad, ok := errors.AsType[*FieldError](err); ok && bad.Line == 0 {
		bad.Field = file.Place(bad.Field)
		bad.Line = strict.Line(file.Text, bad.Field)
	}
	return err
}

func decode(text []byte, into any) error {
	if err := onlyKnown(text, reflect.TypeOf(into)); err != nil {
		return err
	}
	err := strict.DecodeSpelled(text, into)
	bad, ok := errors.AsType[*strict.Error](err)
	if !ok {
		return err
	}
	field := bad.Key
	if field == "" {
		field = fieldTOML
	}
	return &FieldError{Field: field, Reason: bad.Reason}
}
