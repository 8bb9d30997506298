package result

import (
	"fmt"
	"strconv"
	"strings"

	"covey/internal/layout"
	"covey/internal/standardize"
)

// LevelsText says how levels were scaled, and which were left out and why; empty where no column
// has any.
func (r *Result) LevelsText() string {
	if r.LevelsNote == "" {
		return ""
	}
	said := map[standardize.Reason][]string{}
	for _, l := range r.LeftOut {
		said[l.Why] = append(said[l.Why], strconv.Quote(l.Column))
	}
	text := "levels were scaled by their released shares"
	for _, reason := range []struct {
		why  standardize.Reason
		says string
	}{
		{layout.Joined, "too rare by their noised counts, so their rows count as the column's other"},
		{layout.Rare, "left out, since too few rows have them by the noised counts"},
		{layout.Single, "left out, since the column has fewer than two levels that stand out from the noise"},
	} {
		if names := said[reason.why]; len(names) > 0 {
			text += fmt.Sprintf("; %s: %s", reason.says, strings.Join(names, ", "))
		}
	}
	return text
}

// levelsNote says what the constants of levels are.
const levelsNote = "for a level with released share p, offset_ is 0, and scale_ and mean_ are the square root of p: so 1 in a row's own level and 0 in the others become what factor analysis of mixed data uses; a text that is not a level, or a level that left_out_ lists as joined, counts as the column's other"
