package study

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/noise"
	"covey/internal/packed"
	"covey/internal/proposal"
)

// Release is the final answer to one query: the noised sum, in grid units, and the query that it
// answers. Its JSON bytes, as signed by the coordinator's key, are what sites store and results
// hold. It never holds an un-noised value.
type Release struct {
	Study proposal.Digest `json:"study"`
	Query int             `json:"query"`
	Slot  int             `json:"slot"`
	// Previous is the link of the release before it ([Course.History]): what is signed names all
	// that came before.
	Previous  proposal.Digest `json:"previous"`
	Kind      Kind            `json:"kind"`
	Round     int             `json:"round"`
	Survivors []int           `json:"survivors"`   // roster indices, ascending
	Units     int             `json:"units"`       // of the survivors
	X         packed.Floats   `json:"x,omitempty"` // asked about, as are the next eight
	Center    packed.Floats   `json:"center,omitempty"`
	Found     packed.Floats   `json:"found,omitempty"`
	Scale     packed.Floats   `json:"scale,omitempty"`
	Fill      packed.Floats   `json:"fill,omitempty"`
	// Deviations are those of scores that pictures count in.
	Deviations packed.Floats `json:"deviations,omitempty"`
	Radius     float64       `json:"radius"`
	Grid       float64       `json:"grid"`
	Sigma      noise.Sigma   `json:"sigma"`
	// Share is what each survivor added where noise is distributed, nothing where it is central.
	Share noise.Share `json:"share,omitempty"`
	// Removed are the survivors of whose shares the sum keeps only what a sum over so many needs
	// (noise.Share.Kept), ascending: they sent the key of the rest in time. Of all others
	// everything stayed.
	Removed []int   `json:"removed,omitempty"`
	Rho     float64 `json:"rho"` // charge
	// sum + noise; the chosen candidate alone where one is chosen
	Noised packed.Ints `json:"noised"`

	// kept are the numbers of Noised where it is nil and they are pooled ([Plan.Spent]).
	kept packed.Narrow
}

// releaseLabel separates the coordinator's signatures from every other.
const releaseLabel = "covey release v1\x00"

// Encode returns the bytes of r that are stored, sent and, behind SigningInput, signed.
func (r Release) Encode() ([]byte, error) { return json.Marshal(r) }

// EncodedAs reports whether encoded is what Encode returns, without a second copy in memory: most
// of it is the text of vectors.
func (r Release) EncodedAs(encoded []byte) bool {
	vectors, noised := []packed.Floats{r.X, r.Center, r.Found, r.Scale, r.Fill, r.Deviations}, r.Noised
	for i, v := range []*packed.Floats{&r.X, &r.Center, &r.Found, &r.Scale, &r.Fill, &r.Deviations} {
		*v = vectors[i].StandIn()
	}
	r.Noised = nil
	head, err := r.Encode()
	const end = `"}` // of a release without noised values, too
	head, ok := bytes.CutSuffix(head, []byte(end))
	rest, same := packed.Behind(encoded, head, vectors...)
	text, ended := bytes.CutSuffix(rest, []byte(end))
	return err == nil && ok && same && ended && noised.IsText(text)
}

// SigningInput is what the coordinator signs for encoded release bytes.
func SigningInput(encoded []byte) []byte { return append([]byte(releaseLabel), encoded...) }

// ParseRelease reads encoded release bytes.
func ParseRelease(encoded []byte) (Release, error) {
	var r Release
	if err := json.Unmarshal(encoded, &r); err != nil {
		return Release{}, proposal.FieldErrorf("release", "is not a release")
	}
	return r, nil
}

// ParseSigned is ParseRelease for bytes that key signed. It parses no others, and returns nil for
// them.
func ParseSigned(encoded, signature []byte, key ed25519.PublicKey) *Release {
	if !ed25519.Verify(key, SigningInput(encoded), signature) {
		return nil
	}
	r, err := ParseRelease(encoded)
	if err != nil {
		return nil
	}
	return &r
}

// ParseHead reads encoded release bytes without their largest part, Noised, which is the last.
func ParseHead(encoded []byte) (Release, error) {
	at := bytes.Index(encoded, []byte(`,"noised":"`))
	if at < 0 {
		return Release{}, proposal.FieldErrorf("release", "is not a release")
	}
	return ParseRelease(append(slices.Clip(encoded[:at]), '}'))
}

// NewRelease makes the release of an ask over survivors, all of whose shares of noise stayed.
func (p *Plan) NewRelease(a Ask, survivors []int, noised []int64) (Release, error) {
	r := Release{
		Study: p.Digest, Query: a.Query, Slot: a.Slot, Previous: a.History, Kind: a.Kind, Round: a.Round,
		Survivors: survivors, X: a.X, Center: a.Center, Found: a.Found, Scale: a.Scale, Fill: a.Fill, Deviations: a.Deviations, Radius: a.Radius, Grid: a.Grid, Sigma: a.Sigma,
		Rho: p.Queries[a.Query].Rho, Noised: noised,
	}
	for _, i := range survivors {
		r.Units += p.units(i)
	}
	var err error
	if p.Honest > 0 {
		r.Share, err = p.Noise.Share(a.Sigma)
	}
	return r, err
}

// Ask returns the ask that the release answers.
func (r Release) Ask() Ask {
	return Ask{Query: r.Query, Slot: r.Slot, Kind: r.Kind, Round: r.Round, History: r.Previous,
		X: r.X, Center: r.Center, Found: r.Found, Scale: r.Scale, Fill: r.Fill, Deviations: r.Deviations, Radius: r.Radius, Grid: r.Grid, Sigma: r.Sigma}
}

// Z is the noised mean over units: for a power step z_t, in the squared units of the
// scaled columns, laid out like X.
func (r Release) Z() []float64 {
	z := make([]float64, r.values())
	r.z(z, 0)
	return z
}

// values is how many numbers were released.
func (r Release) values() int {
	if r.Noised == nil {
		return r.kept.Len()
	}
	return len(r.Noised)
}

// z writes numbers of Z from one on.
func (r Release) z(to []float64, from int) {
	for i := range to {
		var v int64
		if r.Noised != nil {
			v = r.Noised[from+i]
		} else {
			v = r.kept.At(from + i)
		}
		to[i] = float64(v) * r.Grid / float64(max(1, r.Units))
	}
}

// Spread is the noise's standard deviation on each number of Noised. With distributed noise all
// survivors' shares are in it, where fewer would do, and what was not taken away of them.
func (r Release) Spread() float64 {
	if len(r.Share) == 0 {
		return r.Sigma.Float()
	}
	removed, all := float64(len(r.Removed)), float64(len(r.Survivors))
	return math.Sqrt(float64(removed*r.Share.Kept(len(r.Survivors)).Variance()) + float64((all-removed)*r.Share.Variance()))
}

// Removable returns the parts that can be removed from each survivor's share.
func (r Release) Removable() noise.Share { return r.Share.Removable(len(r.Survivors)) }

// Tau is the noise's standard deviation on each coordinate of Z.
func (r Release) Tau() float64 { return r.Spread() * r.Grid / float64(max(1, r.Units)) }

// columns returns the vectors of d numbers of a power step's Z, without their part in the
// components that deflation has found and in columns that are left out: only noise is there. A
// vector with nothing else is zeros, since what rounding leaves of it is not orthogonal to what was
// found.
func (r Release) columns(d int) [][]float64 {
	columns, found := linalg.Split(r.Z(), d), linalg.Split(r.Found, d)
	for _, v := range columns {
		leave(v, r.Scale)
		least := 1e-8 * linalg.Norm(v)
		for range 2 {
			for _, b := range found {
				c := linalg.Dot(v, b)
				for i := range v {
					v[i] -= float64(c * b[i])
				}
			}
		}
		if linalg.Norm(v) <= least {
			clear(v)
		}
	}
	return columns
}

// reads returns functions that write each of columns(d) from one of its numbers on, for sums over
// many steps. They keep nothing of a block but the release, whose numbers they change as they read
// them.
func (r Release) reads(d int) (of []func(from int, to []float64)) {
	if len(r.Found) > 0 { // of deflation, whose steps have one column
		for _, v := range r.columns(d) {
			of = append(of, func(from int, to []float64) { copy(to, v[from:]) })
		}
		return of
	}
	for begins := 0; begins < r.values(); begins += d {
		of = append(of, func(from int, to []float64) {
			r.z(to, begins+from)
			if len(r.Scale) > 0 {
				leave(to, r.Scale[from:][:len(to)])
			}
		})
	}
	return of
}

// NoiseToSignal is τ√d over the smallest singular value of a power step's Z of d coordinates, for
// one component τ√d/‖z‖: what auto and the pages judge by. A Z of less than full rank gives the
// largest float, which JSON can hold.
func (r Release) NoiseToSignal(d int) float64 {
	k := len(r.X) / d
	if k == 0 {
		return math.MaxFloat64 // no power step
	}
	_, s, ok := linalg.LeadingSingular(linalg.ColumnsOf(r.columns(d)), k)
	if !ok || !(s[k-1] > 0) {
		return math.MaxFloat64
	}
	return min(math.MaxFloat64, r.Tau()*math.Sqrt(float64(d))/s[k-1])
}

// CheckRelease returns an error unless r is the plan's query of its index over a lawful survivor
// set; agents store nothing else as final.
func (p *Plan) CheckRelease(r Release) error {
	if r.Study != p.Digest {
		return mismatch(r.Query, "study", "is another study's")
	}
	if err := p.Check(r.Ask()); err != nil {
		return err
	}
	if want := p.Noise.released(p.Queries[r.Query]); len(r.Noised) != want {
		return mismatch(r.Query, "noised", "has %d values, the plan %d", len(r.Noised), want)
	}
	if q := p.Queries[r.Query]; p.Noise.Chooses(q) && (r.Noised[0] < 0 || r.Noised[0] >= int64(q.Values)) {
		return mismatch(r.Query, "noised", "chooses none of %d candidates", q.Values)
	}
	var share noise.Share
	if p.Honest > 0 {
		var err error
		if share, err = p.Noise.Share(r.Sigma); err != nil {
			return err
		}
	}
	if !slices.Equal(r.Share, share) {
		return mismatch(r.Query, "share", "is not the plan's")
	}
	if len(r.Survivors) < p.Thresholds.MinSurvivors {
		return mismatch(r.Query, "survivors", "%d sites, at least %d", len(r.Survivors), p.Thresholds.MinSurvivors)
	}
	units, last := 0, -1
	for _, i := range r.Survivors {
		if i <= last || i >= len(p.Proposal.Roster) {
			return mismatch(r.Query, "survivors", "are not ascending roster indices")
		}
		last = i
		units += p.units(i)
	}
	if units != r.Units {
		return mismatch(r.Query, "units", "are not the survivors'")
	}
	if len(r.Removed) > 0 && len(r.Removable()) == 0 {
		return mismatch(r.Query, "removed", "nothing of a share is taken away of a sum over %d sites", len(r.Survivors))
	}
	rest := r.Survivors
	for _, i := range r.Removed {
		at := slices.Index(rest, i)
		if at < 0 {
			return mismatch(r.Query, "removed", "are not ascending survivors")
		}
		rest = rest[at+1:]
	}
	// A site that kept another charge as final would hold a result that never verifies.
	if want := p.Queries[r.Query].Rho; !Near(r.Rho, want) {
		return mismatch(r.Query, "rho", "%.9g is charged, the plan charges %.9g", r.Rho, want)
	}
	return nil
}
