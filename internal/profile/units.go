package profile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// conversion is between two units of measurement in which one quantity is reported: a value v in
// From is v·Multiply + Add in To. Numbers come from what the units are, never from anybody's data.
type conversion struct {
	of       []string // words in names of columns
	from, to string
	multiply float64
	add      float64
}

// conversions are all that is ever proposed.
var conversions = both([]conversion{
	{[]string{"creatinine", "crea", "creat", "kreatinin", "kreat"}, "mg/dL", "µmol/L", 88.4, 0},
	{[]string{"glucose", "glu", "glukose", "glycemia", "sugar"}, "mmol/L", "mg/dL", 18.016, 0},
	{[]string{"cholesterol", "chol", "hdl", "ldl"}, "mmol/L", "mg/dL", 38.67, 0},
	{[]string{"triglycerides", "triglyceride", "trig", "tg"}, "mmol/L", "mg/dL", 88.57, 0},
	{[]string{"bilirubin", "bili"}, "mg/dL", "µmol/L", 17.1, 0},
	{[]string{"bun"}, "mmol/L", "mg/dL", 2.801, 0},
	{[]string{"urea", "harnstoff"}, "mmol/L", "mg/dL", 6.006, 0},
	{[]string{"uric", "urate"}, "mg/dL", "µmol/L", 59.48, 0},
	{[]string{"calcium", "ca"}, "mmol/L", "mg/dL", 4.008, 0},
	{[]string{"magnesium", "mg"}, "mmol/L", "mg/dL", 2.431, 0},
	{[]string{"phosphate", "phosphorus", "phos"}, "mmol/L", "mg/dL", 3.097, 0},
	{[]string{"lactate", "laktat"}, "mmol/L", "mg/dL", 9.008, 0},
	{[]string{"hemoglobin", "haemoglobin", "hb", "hgb"}, "g/dL", "g/L", 10, 0},
	{[]string{"hemoglobin", "haemoglobin", "hb", "hgb"}, "mmol/L", "g/dL", 1.611, 0},
	{[]string{"albumin", "alb"}, "g/dL", "g/L", 10, 0},
	{[]string{"crp"}, "mg/dL", "mg/L", 10, 0},
	{[]string{"hba1c", "a1c"}, "mmol/mol", "%", 0.09148, 2.152},
	{[]string{"height", "length", "waist", "hip", "circumference", "größe", "groesse", "taille"}, "m", "cm", 100, 0},
	{[]string{"height", "length", "waist", "hip", "circumference", "größe", "groesse", "taille"}, "in", "cm", 2.54, 0},
	{[]string{"height", "length", "waist", "hip", "circumference", "größe", "groesse", "taille"}, "mm", "cm", 0.1, 0},
	{[]string{"weight", "mass", "gewicht", "poids"}, "lb", "kg", 0.45359237, 0},
	{[]string{"weight", "mass", "gewicht", "poids"}, "g", "kg", 0.001, 0},
	{[]string{"temp", "temperature", "temperatur"}, "°F", "°C", 5.0 / 9, -160.0 / 9},
	{[]string{"age", "duration", "alter", "stay", "los"}, "days", "years", 1 / 365.25, 0},
	{[]string{"age", "duration", "alter", "stay", "los"}, "months", "years", 1.0 / 12, 0},
	{[]string{"duration", "stay", "los"}, "hours", "days", 1.0 / 24, 0},
	{[]string{"pressure", "sbp", "dbp", "map", "bp", "pao2", "paco2", "po2", "pco2"}, "kPa", "mmHg", 7.50062, 0},
	{[]string{"spo2", "sao2", "fio2", "saturation", "hematocrit", "haematocrit", "hct", "fraction", "percent", "pct"}, "fraction", "%", 100, 0},
})

// both adds the way back of each.
func both(one []conversion) []conversion {
	for _, c := range slices.Clone(one) {
		one = append(one, conversion{c.of, c.to, c.from, 1 / c.multiply, -c.add / c.multiply})
	}
	return one
}

// words are the parts of a column's name in lower case, without what stands in brackets.
func words(name string) []string {
	if at := strings.IndexAny(name, "[("); at > 0 {
		name = name[:at]
	}
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// fits returns the conversions of a column's quantity after which its quantiles are where the study
// has them; into measure alone, if the study names one that is in the table.
func fits(name string, q []float64, wanted *want) (out []conversion) {
	measure := known(wanted.measure)
	for _, c := range conversions {
		if !slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(c.of, w) }) {
			continue
		}
		if measure != "" && c.to != measure {
			continue
		}
		converted := make([]float64, len(q))
		for i, v := range q {
			converted[i] = v*c.multiply + c.add
		}
		if wanted.has(converted, 1, 0.3) {
			out = append(out, c)
		}
	}
	return out
}

// known is a text's unit of measurement as the table writes it; empty if the table has none.
func known(text string) string {
	unit := func(text string) string {
		return strings.NewReplacer("degrees", "°", "deg", "°", "u", "µ", "μ", "µ", " ", "").Replace(strings.ToLower(text))
	}
	if at := slices.IndexFunc(conversions, func(c conversion) bool { return unit(c.to) == unit(text) }); at >= 0 {
		return conversions[at].to
	}
	return ""
}

// spoken is a unit in a sentence, where "in" would be read as the preposition.
func spoken(unit string) string {
	if unit == "in" {
		return "inches"
	}
	return unit
}

// named is the unit that a column's name says in brackets, or as its last word; empty without one
// that the table has. A letter, "in" and "fraction" are one in brackets alone.
func named(name string) string {
	if at := strings.IndexAny(name, "[("); at > 0 {
		end := strings.IndexAny(name[at:], "])")
		return known(name[at+1 : at+max(1, end)])
	}
	at := strings.LastIndexAny(name, " _")
	if word := name[at+1:]; at > 0 && utf8.RuneCountInString(word) > 1 && !slices.Contains([]string{"in", "fraction"}, strings.ToLower(word)) {
		return known(word)
	}
	return ""
}

// headed looks at what the header of column j says of the unit, where agent.toml does not convert
// it, and values were not looked at or would be as plausible converted. It adds a line with the
// table's factor, if there is one.
func (s *sight) headed(j int, w *want, p *paste) {
	name, from := s.label[j], s.from[j]
	if w == nil || !w.number || w.measure == "" {
		return
	}
	has, measure, either := named(s.header[j]), known(w.measure), ""
	unsure := s.values || has == "" || measure == "" || from.Multiply != 0 || from.Add != 0
	if w.constants || w.plausible != nil {
		q := s.columns[j].order()
		if unsure || len(q) == 0 || !w.has(q, 2, 0.2) || !slices.ContainsFunc(fits(name+" "+s.header[j], q, w), func(c conversion) bool { return c.from == has }) {
			return
		}
		either = ", and its values are plausible in both"
	} else if unsure {
		s.unchecked = append(s.unchecked, key(name))
		return
	}
	if has == measure {
		return
	}
	s.look(name, AboutUnit, fmt.Sprintf("its header says %s where the study expects %s%s", spoken(has), spoken(measure), either))
	for _, c := range conversions {
		if c.from == has && c.to == measure && slices.ContainsFunc(words(name+" "+s.header[j]), func(w string) bool { return slices.Contains(c.of, w) }) {
			from.Name, from.Multiply, from.Add = s.header[j], c.multiply, c.add
			p.notes = append(p.notes, "# "+columnLine(name, from)+"  # if it is in "+spoken(has))
			return
		}
	}
}
