package study

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestPlanAsJSON: a plan that an operator's command reads says what the coordinator's says.
func TestPlanAsJSON(t *testing.T) {
	p, err := plan(t, `
name = "s"
dataset = "d"
epsilon = 1
delta = 1e-6
standardize = "private"
missing = "fill"
columns = ["a", "b", { name = "c", levels = ["x", "y"], indicator = true }]
`, 700, 700, 700)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Learning.Score != p.Learning.Score || got.Shares() != p.Shares() || got.Iota != p.Iota {
		t.Errorf("score %v, shares %+v; want %v, %+v", got.Learning.Score, got.Shares(), p.Learning.Score, p.Shares())
	}
	if !slices.Equal(got.Warnings(), p.Warnings()) || !slices.Equal(got.Layout.Coordinates, p.Layout.Coordinates) {
		t.Errorf("warnings %q, coordinates %v; want %q, %v", got.Warnings(), got.Layout.Coordinates, p.Warnings(), p.Layout.Coordinates)
	}
}
