package study

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/standardize"
	"covey/test/texts"
)

// TestSingleColumns: queries about single columns are of the numbers alone: their values, Δ, shares
// and score go by three coordinates of fifteen, moments by three times as many.
func TestSingleColumns(t *testing.T) {
	p := mustPlan(t, texts.Mixed, 3000, 3000, 3000)
	numbers, roomy := []int{4, 10, 13}, []int{0, 1, 2, 3, 4, 5, 6, 10, 13}
	if p.D != 15 || !slices.Equal(p.Layout.Single(KindOctaves), numbers) || !slices.Equal(p.Layout.Single(KindTree), numbers) || !slices.Equal(p.Layout.Single(KindMoments), roomy) {
		t.Fatalf("of %d coordinates %v, %v and %v are counted", p.D, p.Layout.Single(KindOctaves), p.Layout.Single(KindTree), p.Layout.Single(KindMoments))
	}
	shares := standardize.SharesOf(p.N, 3, 9, p.fullMultiplier)
	if p.Learning.Score != standardize.Score(p.N, 3, p.fullMultiplier) || p.Shares().Standardize != shares.All() {
		t.Errorf("the score is %v, the share %v", p.Learning.Score, p.Shares().Standardize)
	}
	for _, q := range p.Queries {
		values, delta, share := 0, 0.0, 0.0
		switch q.Kind {
		case KindOctaves:
			values, delta, share = 3*query.OctaveBins, 0x1p16*math.Sqrt(4*3), shares.Octaves
		case KindTree:
			values, delta, share = 3*query.TreeBins, 0x1p16*math.Sqrt(6*3), shares.Tree
		case KindMoments:
			values, delta, share = 2*9, 0x1p16*math.Sqrt(28*9)+math.Sqrt(2*9), shares.Moments
		default:
			continue
		}
		if q.Values != values || math.Abs(p.Noise.Sensitivity(q, 0)/delta-1) > 1e-12 || math.Abs(q.Rho/p.Rho/share-1) > 0.01 {
			t.Errorf("%s has %d numbers, Δ = %v and %.4f of the budget; want %d, %v, %.4f", q.Kind, q.Values, p.Noise.Sensitivity(q, 0), q.Rho/p.Rho, values, delta, share)
		}
	}
	// as few units as three numbers need, not fifteen
	least := standardize.NeededUnits(3, p.fullMultiplier, standardize.RefuseScore)
	if _, err := plan(t, texts.Mixed, least/3+1, least/3+1, least/3+1); err != nil {
		t.Errorf("%d units: %v", least, err)
	}
	_, err := plan(t, texts.Mixed, least/3-1, least/3-1, least/3-1)
	if bad, ok := errors.AsType[*proposal.FieldError](err); !ok || bad.Field != "standardize" || !strings.Contains(bad.Reason, "the constants of 3 columns") {
		t.Errorf("fewer than %d units: %v", least, err)
	}
}
