package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"covey/internal/packed"
	"covey/internal/study"
)

// Outputs are vectors by the name of an output; in JSON each vector is packed.
type Outputs map[string][][]float64

// MarshalJSON writes the vectors packed, by name.
func (o Outputs) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	err := o.write(&text)
	return text.Bytes(), err
}

// write is MarshalJSON of one vector at a time.
func (o Outputs) write(to io.Writer) error {
	w := bufio.NewWriter(to)
	comma := ""
	w.WriteString("{")
	for _, name := range slices.Sorted(maps.Keys(o)) {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		w.WriteString(comma + string(key) + ":[")
		comma = ","
		for i, v := range o[name] {
			if i > 0 {
				w.WriteString(",")
			}
			text, err := packed.Floats(v).MarshalText()
			if err != nil {
				return err
			}
			w.WriteString("\"")
			w.Write(text)
			w.WriteString("\"")
		}
		w.WriteString("]")
	}
	w.WriteString("}")
	return w.Flush()
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Outputs) UnmarshalJSON(text []byte) error {
	var in map[string][]packed.Floats
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*o = make(Outputs, len(in))
	for name, vectors := range in {
		(*o)[name] = make([][]float64, len(vectors))
		for i, v := range vectors {
			(*o)[name][i] = v
		}
	}
	return nil
}

// checkOutputs makes the result of the releases, and of the course that they end in, anew: what is
// computed in floats must be near, all else equal.
func (r *Result) checkOutputs(p *study.Plan, releases []study.Release, c study.Course) error {
	want, err := newResult(p, releases, c, 0)
	// a value at a threshold may have fallen on its other side on another processor
	for _, slack := range []float64{cutSlack, -cutSlack} {
		if err == nil && want.K != r.K {
			want, err = newResult(p, releases, c, slack)
		}
	}
	if err != nil {
		return unverified(-1, "releases", "%s", strings.TrimPrefix(err.Error(), "study: "))
	}
	if study.Near(r.NoiseToSignal, want.NoiseToSignal) {
		want.NoiseToSignal = r.NoiseToSignal
	}
	want.Releases, want.Proposal, want.Signatures, want.Chain, want.Signature = r.Releases, r.Proposal, r.Signatures, r.Chain, r.Signature
	want.put(Evidence{r.ProposerSignature, r.Approvals, r.Transcript, r.Confirmations, r.Certificates, r.ChainHead})
	want.SiteSignatures = r.SiteSignatures
	for field := range fields() {
		mine, theirs := reflect.ValueOf(*want).FieldByIndex(field.Index), reflect.ValueOf(*r).FieldByIndex(field.Index)
		same := reflect.DeepEqual(mine.Interface(), theirs.Interface())
		if name := strings.TrimSuffix(field.Tag.Get("json"), ",omitempty"); slices.Contains(computed, name) {
			same = alike(mine, theirs)
		}
		if !same {
			return unverified(-1, strings.TrimSuffix(field.Tag.Get("json"), ",omitempty"), "does not follow from the proposal and the releases")
		}
	}
	return nil
}

// computed are the keys whose numbers come out of more than copying and adding.
var computed = []string{
	"mean_", "scale_", "rows_per_unit", "components_", "outputs", "explained_variance_", "explained_variance_interval_",
	"explained_variance_ratio_", "total_variance_", "total_variance_interval_", "rows_kept_", "rows_kept_interval_",
	"filled_", "filled_interval_",
}

// alike is equality, but of floats: those may differ as verifyTolerance says.
func alike(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float64:
		return study.NearVector([]float64{a.Float()}, []float64{b.Float()})
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return alike(a.Elem(), b.Elem())
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, key := range a.MapKeys() {
			if v := b.MapIndex(key); !v.IsValid() || !alike(a.MapIndex(key), v) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
}
