package cli

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"covey/internal/compare"
	"covey/internal/pki"
	"covey/internal/result"
	"covey/internal/worth"
)

// Compare holds two result files against each other, offline.
type Compare struct {
	A string `arg:"" help:"A result file. It must verify."`
	B string `arg:"" help:"Another result, of the same columns."`
}

// Run prints angles between components and between what they span.
func (c *Compare) Run(t *Terminal) error {
	var results [2]*result.Result
	var of [2]*worth.Report
	for i, path := range []string{c.A, c.B} {
		r, v, err := (&Verify{File: path}).read(t)
		if err != nil {
			return err
		}
		results[i] = r
		t.Say("%s verifies: it is signed by the key in it, %s.", path, pki.Fingerprint(ed25519.PublicKey(v.Coordinator)))
		if of[i], err = t.Worth(results[i]); err != nil {
			return err
		}
	}
	report, err := compare.Of(results[0], results[1], of[0], of[1])
	if err != nil {
		return &InputError{err}
	}
	return t.Print(report, func(out io.Writer) {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%s\t%s\tdegrees\t%.0f%% interval\t\n", "A", "B", 100*compare.Confidence)
		for _, p := range report.Pairs {
			b := strconv.Itoa(p.B)
			if p.Flipped {
				b = "-" + b
			}
			fmt.Fprintf(w, "%d\t%s\t%.1f\t%s\t%s\n", p.A, b, p.Angle, between(p.Interval), p.Words)
		}
		for _, s := range report.Spaces {
			fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\t%s\n", list(s.A), list(s.B), s.Angle, between(s.Interval), s.Words)
		}
		w.Flush()
		fmt.Fprint(out, "principal angles of all:")
		for _, v := range report.Principal {
			fmt.Fprintf(out, " %.1f", v)
		}
		fmt.Fprintln(out, " (no intervals are calibrated)")
		for _, note := range report.Notes {
			fmt.Fprintln(out, note)
		}
	})
}

func between(in *[2]float64) string {
	if in == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f to %.1f", in[0], in[1])
}

func list(v []int) string {
	var out []string
	for _, n := range v {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ",")
}
