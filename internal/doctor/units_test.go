package doctor

import (
	"testing"

	"covey/internal/sitedata"
)

// TestRemedyOfUnits: where no warning asks for a unit of measurement, nobody is told to compare it.
func TestRemedyOfUnits(t *testing.T) {
	gaps := sitedata.ColumnFigure{Name: "a", Warnings: []string{"has no value in 40% of the rows here: missing, or at fault"}}
	far := sitedata.ColumnFigure{Name: "b", Warnings: []string{"lies 9 scales above the study's offset: is it in the unit of measurement that the study expects?"}}
	for _, f := range unitsOf(sitedata.Figures{Columns: []sitedata.ColumnFigure{gaps}}) {
		if f.Do != "" {
			t.Errorf("%q: %s", f.Result, f.Do)
		}
	}
	out := unitsOf(sitedata.Figures{Columns: []sitedata.ColumnFigure{far, gaps}})
	if len(out) != 2 || out[0].Do != remedies[CheckUnits] || out[1].Do != "" {
		t.Errorf("%+v", out)
	}
}
