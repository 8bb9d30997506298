package result

import (
	"bytes"
	"encoding/json"
	"testing"

	"covey/internal/proposal"
)

// TestMarshalIsJSON: what is hashed and compared key by key is what encoding/json writes in one
// text, to the byte: signatures are over it.
func TestMarshalIsJSON(t *testing.T) {
	p, body, signed := course(t, public, nil)
	for _, r := range []*Result{made(t, p, body, signed), made(t, p, body, signed).bare(), {}, {Columns: []string{"<a&b>\u2028"}, Outputs: Outputs{"<x>": {{}, {1.5, -2}}, "a": nil}}} {
		want, err := json.Marshal(*r)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := r.marshal(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%v: %.300s, want %.300s", err, got.Bytes(), want)
		}
		same, other := expected(want), expected(append(bytes.Clone(want[:len(want)-1]), ']'))
		if err := r.marshal(&same); err != nil || len(same) > 0 {
			t.Errorf("its own text has %d bytes more, %v", len(same), err)
		}
		if r.marshal(&other) == nil {
			t.Error("another text is taken for its own")
		}
	}
	vectors := Outputs{proposal.OutputLast: {{1, 2}}}
	text, err := json.Marshal(vectors)
	var again Outputs
	if err != nil || json.Unmarshal(text, &again) != nil || again[proposal.OutputLast][0][1] != 2 {
		t.Errorf("%s, %v", text, err)
	}
}
