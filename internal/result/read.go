package result

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"covey/internal/study"
)

// WholeColumns is up to how many columns a result that is read has its releases whole. Those of
// wider ones are long, and no figure that is made of all of them is calibrated (package worth):
// such a result keeps what outputs are made of, centers, and the last steps' vectors.
const WholeColumns = 512

// LastSteps of a run of power iteration keep their vectors in every result.
const LastSteps = 3

// Read verifies a file that is read twice, since a proposal may stand behind releases that follow
// from it, and also returns the result. It keeps nothing of the file's text, holds one release's at
// a time, and of a wide result not all numbers of releases ([WholeColumns]).
func Read(file io.ReadSeeker) (*Result, *Verified, error) {
	o, err := open(file)
	if err != nil {
		return nil, nil, err
	}
	left, err := o.keeps(o.plan)
	if err != nil {
		return nil, nil, err
	}
	v, err := o.verify(o.plan, transcript{each: o.releases, left: left})
	if err != nil {
		return nil, nil, err
	}
	return o.Result, v, nil
}

// ReadVerified is Read of a file that verified before, which is not checked again.
func ReadVerified(file io.ReadSeeker) (*Result, error) {
	o, err := open(file)
	if err != nil {
		return nil, err
	}
	left, err := o.keeps(o.plan)
	if err != nil {
		return nil, err
	}
	for release, err := range o.releases {
		if err != nil {
			return nil, err
		}
		o.Releases = append(o.Releases, left(release.Release))
	}
	return o.Result, nil
}

// Outline reads a file without its releases. It verifies nothing.
func Outline(file io.Reader) (*Result, error) { return parse(file, skipRelease) }

// VerifyTwice is Verify of a file that is read twice, as Read reads it. It holds of all releases
// what outputs are made of ([study.Plan.Spent]).
func VerifyTwice(file io.ReadSeeker) (*Verified, error) {
	o, err := open(file)
	if err != nil {
		return nil, err
	}
	return o.verify(o.plan, transcript{each: o.releases, left: o.plan.Spent})
}

// opened is a file that was read once, without its releases.
type opened struct {
	*Result
	plan  *study.Plan
	file  io.ReadSeeker
	first int64 // where the first release is; -1 without any
}

func open(file io.ReadSeeker) (opened, error) {
	o := opened{file: file, first: -1}
	var err error
	o.Result, o.plan, err = parsePlanned(file, func(d *json.Decoder, i int) error {
		if i == 0 {
			o.first = d.InputOffset()
		}
		return skipRelease(d, i)
	})
	return o, err
}

// releases reads the file's releases, each as it was signed.
func (o opened) releases(yield func(told, error) bool) {
	if o.first < 0 {
		return
	}
	_, err := o.file.Seek(o.first, io.SeekStart)
	on := true
	if err == nil {
		err = eachRelease(json.NewDecoder(io.MultiReader(strings.NewReader("["), o.file)), func(d *json.Decoder, i int) error {
			release, encoded, err := parseRelease(d, i)
			if err != nil {
				return err
			}
			if on = yield(told{release, encoded}, nil); !on {
				return io.EOF
			}
			return nil
		})
	}
	if err != nil && on {
		yield(told{}, fault(err))
	}
}

// keeps returns what is kept of each release, in order, in a result that people read. The result
// has its components already: of a step whose vectors are not kept it notes what is shown of it.
// Nothing of the result need be verified yet, so an error is for components of another length than
// the plan's, which no verified result has.
func (r *Result) keeps(p *study.Plan) (func(study.Release) study.Release, error) {
	if p.D <= WholeColumns {
		return func(release study.Release) study.Release { return release }, nil
	}
	if r.D != p.D {
		return nil, unverified(-1, "n_features_in_", "does not follow from the proposal")
	}
	if slices.ContainsFunc(r.Components, func(c []float64) bool { return len(c) != p.D }) {
		return nil, unverified(-1, "components_", "has vectors of another length than the proposal's rows")
	}
	r.brief = []Step{}
	return func(release study.Release) study.Release {
		kept := p.Spent(release)
		if release.Kind != study.KindPower {
			kept.Center = release.Center // about which lengths were counted
			return kept
		}
		r.brief = append(r.brief, r.step(release, r.brief))
		if release.Round >= p.Rounds-LastSteps {
			kept.X, kept.Noised = release.X, release.Noised
		}
		return kept
	}, nil
}

// Whole reports whether the result's releases have all of their vectors.
func (r *Result) Whole() bool { return r.brief == nil }
