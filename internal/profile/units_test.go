package profile

import (
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestUnitsOfHeaders: where no values can be held against a measure, or a wide range takes them in
// either unit, the header's unit is, if the table has both. A range that only the study's unit fits
// is believed rather than a header. What is not checked at all is said in one line.
func TestUnitsOfHeaders(t *testing.T) {
	for header, want := range map[string]string{
		"Hb g/l": "g/L", "CRP mg/dl": "mg/dL", "LDL (mmol/l)": "mmol/L", "Groesse [m]": "m", "height_cm": "cm", "crea_umol/L": "µmol/L", "temp [°F]": "°F", "temp (degrees C)": "°C",
		"status_m": "", "born_in": "", "ejection fraction": "", "cm": "", "days": "", "[m]": "", "x [": "", "x [m": "", "x []": "", "note (see g/L)": "", "": "",
	} {
		if got := named(header); got != want {
			t.Errorf("%q has %q, want %q", header, got, want)
		}
	}
	rows := strings.Repeat("135,3.5,36.6,5,42,11,1.7,80\n140,2.5,37.6,6,44,12,1.8,82\n", 30)
	spec := &proposal.Spec{Missing: proposal.MissingError}
	for _, c := range []proposal.Column{
		{Name: "hb", Measure: "g/dL"}, {Name: "ldl", Measure: "mg/dL"}, {Name: "temp", Measure: "degrees C"}, {Name: "crp", Measure: "mg/L", Range: []float64{0, 500}},
		{Name: "alb", Measure: "g/L", Range: []float64{10, 60}}, {Name: "bili", Measure: "µmol/L", Range: []float64{0, 500}}, {Name: "height", Measure: "cm"}, {Name: "weight", Measure: "kg"},
	} {
		c.Standardize = proposal.StandardizePrivate
		spec.Columns = append(spec.Columns, c)
	}
	r := profiled(t, "Hb g/l,LDL (mmol/l),temp,CRP mg/dl,alb (g/dl),bili (umol/l),height [m],weight_kg\n"+rows, "[dataset.columns]\nhb = \"Hb g/l\"\nldl = \"LDL (mmol/l)\"\ncrp = \"CRP mg/dl\"\nalb = \"alb (g/dl)\"\nbili = \"bili (umol/l)\"\nweight = \"weight_kg\"\nheight = { from = \"height [m]\", multiply = 100 }\n", spec)
	if got, want := looks(r, AboutUnit), `column "hb": its header says g/L where the study expects g/dL
column "ldl": its header says mmol/L where the study expects mg/dL
column "crp": its header says mg/dL where the study expects mg/L, and its values are plausible in both`; got != want {
		t.Error(got)
	}
	if got := looks(r, AboutMeasure); !strings.HasSuffix(got, "range: temp, height") {
		t.Error(got)
	}
	if got, want := strings.Join(r.Paste, "\n"), `# below its [dataset.columns], each in place of the column's line, if there is one:
# hb = { from = "Hb g/l", multiply = 0.1 }  # if it is in g/L
# ldl = { from = "LDL (mmol/l)", multiply = 38.67 }  # if it is in mmol/L
# crp = { from = "CRP mg/dl", multiply = 10 }  # if it is in mg/dL`; got != want {
		t.Error(got)
	}
}
