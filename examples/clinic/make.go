//go:build ignore

// Command make writes the tables of the tutorials: synthetic patients of three hospitals, each
// exported as that hospital would. No person is in them.
//
//	go run examples/clinic/make.go [FOLDER]
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

const patients = 3000 // a hospital

// patient has one latent size and one latent frailty, which the measurements follow.
type patient struct {
	age, height, weight, systolic, heartRate, creatinine, glucose, hemoglobin float64
	female                                                                    bool
}

func draw(r *rand.Rand) patient {
	size, frail := r.NormFloat64(), r.NormFloat64()
	p := patient{female: r.IntN(2) == 0}
	sex := 1.0
	if p.female {
		sex = -1
	}
	p.age = math.Round(min(max(64+13*frail+5*r.NormFloat64(), 18), 99))
	p.height = math.Round(171 + 6*sex + 5*size + 2*r.NormFloat64())
	p.weight = math.Round(78+5*sex+12*size+5*r.NormFloat64()) + float64(r.IntN(2))/2
	p.systolic = math.Round(128 + 11*frail + 3*size + 8*r.NormFloat64())
	p.heartRate = math.Round(82 + 9*frail + 6*r.NormFloat64())
	p.creatinine = math.Round(88 * math.Exp(0.28*frail+0.1*sex+0.12*r.NormFloat64()))
	p.glucose = math.Round(10*6.4*math.Exp(0.15*size+0.12*frail+0.17*r.NormFloat64())) / 10
	p.hemoglobin = math.Round(10*(13.4+0.7*sex-0.9*frail+0.6*r.NormFloat64())) / 10
	return p
}

// hospital writes one table, in its own names, units and codes.
type hospital struct {
	file   string
	seed   uint64
	comma  rune
	header []string
	row    func(id int, p patient, r *rand.Rand) []string
	before string
}

var hospitals = []hospital{
	{file: "north.csv", seed: 1, comma: ',',
		header: []string{"patient_id", "age", "sex", "height_cm", "weight_kg", "systolic", "heart_rate", "creatinine", "glucose", "hemoglobin"},
		row: func(id int, p patient, r *rand.Rand) []string {
			sex := "M"
			if p.female {
				sex = "F"
			}
			return []string{fmt.Sprintf("N%05d", id), number(p.age), sex, number(p.height), number(p.weight), number(p.systolic), number(p.heartRate),
				number(p.creatinine), gap(r, number(p.glucose), ""), number(p.hemoglobin)}
		}},
	// Another language, decimal commas, meters, mg/dL, a title above the header.
	{file: "lakeside.csv", seed: 2, comma: ';', before: "Auszug Intensivstation\n",
		header: []string{"Fall-Nr", "Alter", "Geschlecht", "Groesse [m]", "Gewicht", "RR syst", "Puls", "Kreatinin", "Glukose", "Hb"},
		row: func(id int, p patient, r *rand.Rand) []string {
			sex := "m"
			if p.female {
				sex = "w"
			}
			row := []string{fmt.Sprintf("L%05d", id), number(p.age), sex, fmt.Sprintf("%.2f", p.height/100), number(p.weight), number(p.systolic), number(p.heartRate),
				fmt.Sprintf("%.2f", p.creatinine/88.4), gap(r, number(p.glucose), ""), number(p.hemoglobin)}
			for i := 3; i < len(row); i++ {
				row[i] = strings.Replace(row[i], ".", ",", 1)
			}
			return row
		}},
	// Codes for what was not measured.
	{file: "university.csv", seed: 3, comma: ',',
		header: []string{"patient_id", "age", "sex", "height_cm", "weight_kg", "systolic", "heart_rate", "creatinine", "glucose", "hemoglobin"},
		row: func(id int, p patient, r *rand.Rand) []string {
			sex := "male"
			if p.female {
				sex = "female"
			}
			return []string{fmt.Sprintf("U%05d", id), number(p.age), sex, number(p.height), number(p.weight), number(p.systolic), number(p.heartRate),
				number(p.creatinine), gap(r, number(p.glucose), "-9"), number(p.hemoglobin)}
		}},
}

func number(v float64) string { return fmt.Sprint(v) }

// gap leaves one cell in ten out.
func gap(r *rand.Rand, text, missing string) string {
	if r.IntN(10) == 0 {
		return missing
	}
	return text
}

func main() {
	dir := filepath.Join("examples", "clinic")
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for _, h := range hospitals {
		if err := h.write(filepath.Join(dir, h.file)); err != nil {
			log.Fatal(err)
		}
	}
}

func (h hospital) write(path string) error {
	var text strings.Builder
	text.WriteString(h.before)
	w := csv.NewWriter(&text)
	w.Comma = h.comma
	if err := w.Write(h.header); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(h.seed, 19))
	for id := range patients {
		if err := w.Write(h.row(id+1, draw(r), r)); err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}
