package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"covey/internal/frame"
	"covey/internal/result"
	"covey/internal/worth"
)

// PrintResult prints a result for people: its loadings to Out, all else to Err. A terminal gets
// long names cut, so that one of them leaves its lines whole.
func (t *Terminal) PrintResult(r *result.Result) error {
	shown := func(name string) string { return name }
	if Width(t.Out) != nil {
		shown = frame.Cell
	}
	w := tabwriter.NewWriter(Unfilled(t.Out), 0, 0, 2, ' ', tabwriter.AlignRight)
	t.Say("%s: %s output, ε = %g, δ = %g when one unit is replaced, ρ = %.6g charged, %d units, noise-to-signal %.3g",
		r.Name, r.Output, r.Epsilon, r.Delta, r.Rho, r.N, r.NoiseToSignal)
	of, err := t.Worth(r)
	if err != nil {
		return err
	}
	for _, sentence := range of.Sentences {
		t.Say("%s", sentence)
	}
	fmt.Fprint(w, "column\t")
	for i := range r.K {
		fmt.Fprintf(w, "%s\t", loadingsHead(of, i, r.K))
	}
	fmt.Fprintln(w)
	for i, name := range r.Columns {
		fmt.Fprintf(w, "%s\t", Cells(shown(name)))
		out := slices.ContainsFunc(r.LeftOut, func(l result.LeftOut) bool { return l.Column == name })
		for at, x := range r.Components {
			if out { // its 0 is no estimate
				fmt.Fprint(w, "left out\t")
				continue
			}
			fmt.Fprintf(w, "%s%s\t", Fixed(x[i], 3), loadingInterval(of, at, i))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(t.Err, "method %s (%s): %s\n%s", r.Method, r.MethodWhy, r.Done(), VarianceText(of.Shown(r)))
	return nil
}

// VarianceText is a line for each explained variance with its interval, where it was bought.
func VarianceText(r *result.Result) string {
	text := ""
	for i, v := range r.ExplainedVariance {
		in := r.VarianceInterval[i]
		number := "%.3f"
		switch {
		case in[1] < 0.01 || in[1] >= 1e6: // or a variance in small units would look like none
			number = "%.3g"
		case in[1] >= 1000:
			number = "%.0f"
		}
		text += fmt.Sprintf("variance %-4d "+number+" (95%%: "+number+" to "+number+")", i+1, v, in[0], in[1])
		if len(r.VarianceRatio) == 0 {
			text += "\n"
			continue
		}
		text += fmt.Sprintf(", %s of the total\n", r.ShareText(i))
	}
	for _, note := range r.ShareNotes(len(r.VarianceRatio)) {
		text += "              " + note + "\n"
	}
	if text != "" {
		text += "              measured on clipped rows: an interval covers the noise, neither the variance that the clip removed, which can be most of it, nor how other rows would vary\n"
		if r.ScaleNote != "" {
			text += "              for learned columns, counts only values within 3 scales: if they are skewed or have heavy tails, the variances of all values are lower, by up to a quarter in tests\n"
		}
	}
	if len(r.ExplainedVariance) > 1 {
		text += "              an interval is for a component picked before looking: of several nearly equal ones, the first is too high\n"
	}
	return text
}

// loadingsHead returns the title of a component's loadings, of k. The table is read alone, too, so
// it says there which component must not be interpreted.
func loadingsHead(of *worth.Report, component, k int) string {
	head := "loading"
	if k > 1 {
		head = fmt.Sprintf("component %d", component+1)
	}
	if component >= len(of.Components) || !of.Components[component].Separated {
		head += ", not to be interpreted"
	}
	return head
}

// loadingInterval is a loading's 95% interval, as a table has it behind the loading; empty where
// none is calibrated.
func loadingInterval(of *worth.Report, component, column int) string {
	if component >= len(of.Components) || of.Components[component].Loadings == nil {
		return ""
	}
	in := of.Components[component].Loadings[column]
	return fmt.Sprintf(" [%s, %s]", Fixed(in[0], 3), Fixed(in[1], 3))
}

// Fixed prints a number with so many decimals, and no sign where all of them are 0.
func Fixed(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}
