package profile

import (
	"slices"
	"strings"
	"unicode"

	"covey/internal/dataset"
	"covey/internal/strict"
)

// mostNear is how many names of a header are proposed for a column that is missing.
const mostNear = 3

// mostCompared bounds the pairs of names that are compared, a few seconds' worth: a study may have
// as many columns that the header lacks as a header may have, and all pairs of them took days.
const mostCompared = 1 << 20

// near returns near names of the header, none where these may be a row's values. For a column that
// the header lacks, one of very many, none is looked for.
func (s *sight) near(name string) []string {
	if s.values {
		return nil
	}
	names, ok := s.likely[name]
	if !ok && (s.compared < mostCompared || name == s.r.Unit) {
		s.compared += len(s.header)
		names = near(name, s.header)
		s.likely[name] = names
	}
	return names
}

// near returns the names of a header that may be meant by a column's name, the nearest first: those
// that are like it, those that mean the same, and those of a few other letters. A name that is a
// number is left out: a file without a header line has values there.
func near(name string, header []string) []string {
	out := dataset.Near(name, header)
	more := func(meant func(h string) bool) {
		for _, h := range header {
			if len(out) < mostNear && !slices.Contains(out, h) && len(h) <= maxLevel && strings.ContainsFunc(h, unicode.IsLetter) && meant(h) {
				out = append(out, h)
			}
		}
	}
	want := plain(name)
	more(func(h string) bool { return plain(h) == want && dataset.Nameable(h) }) // and what nobody sees, such as a no-break space
	more(func(h string) bool { return synonymous(words(h), words(name)) })
	more(func(h string) bool {
		have := plain(h)
		// Short names of a letter's difference are often others, such as two pressures.
		return len(want) > 3 && strict.Distance(have, want) <= len(want)/3 && len(have) > len(want)/3
	})
	return out
}

// synonyms are names of the same quantity in several languages. Those of conversions are wider:
// what is measured alike is not the same, such as two pressures.
var synonyms = [][]string{
	{"age", "alter", "edad", "âge", "eta", "età", "leeftijd"},
	{"sex", "gender", "geschlecht", "sexe", "sexo", "sesso", "geslacht"},
	{"height", "größe", "groesse", "körpergröße", "koerpergroesse", "taille", "talla", "altezza", "lengte"},
	{"weight", "gewicht", "körpergewicht", "poids", "peso"},
	{"hr", "heart", "herzfrequenz", "pulse", "puls", "pouls"},
	{"potassium", "kalium", "k"},
	{"sodium", "natrium", "na"},
	{"creatinine", "crea", "creat", "kreatinin", "kreat"},
	{"glucose", "glu", "glukose", "glycemia"},
	{"cholesterol", "chol"},
	{"triglycerides", "triglyceride", "trig"},
	{"bilirubin", "bili"},
	{"urea", "harnstoff"},
	{"calcium", "ca"},
	{"phosphate", "phosphorus", "phos"},
	{"lactate", "laktat"},
	{"hemoglobin", "haemoglobin", "hb", "hgb"},
	{"albumin", "alb"},
	{"hba1c", "a1c"},
	{"temp", "temperature", "temperatur"},
	{"sbp", "systolic", "systolisch", "syst"},
	{"dbp", "diastolic", "diastolisch", "diast"},
	{"smoking", "smoker", "raucher"},
	{"ward", "station", "department", "abteilung"},
	{"admitted", "admission", "aufnahme"},
	{"stay", "los", "verweildauer"},
}

// synonymous reports whether two names have words of one meaning.
func synonymous(a, b []string) bool {
	in := func(words, of []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
	}
	for _, of := range synonyms {
		if in(a, of) && in(b, of) {
			return true
		}
	}
	return false
}

// plain is a name's letters and digits in lower case.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}
