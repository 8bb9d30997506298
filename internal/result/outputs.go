package result

import (
	"encoding/json"

	"covey/internal/packed"
)

// Outputs are vectors by the name of an output; in JSON each vector is packed.
type Outputs map[string][][]float64

// MarshalJSON writes them.
func (o Outputs) MarshalJSON() ([]byte, error) {
	out := make(map[string][]packed.Floats, len(o))
	for name, vectors := range o {
		out[name] = make([]packed.Floats, len(vectors))
		for i, v := range vectors {
			out[name][i] = v
		}
	}
	return json.Marshal(out)
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
