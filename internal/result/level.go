package result

import (
	"fmt"
	"strconv"
	"strings"

	"covey/internal/standardize"
	"covey/internal/study"
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
		{study.OutJoined, "too rare by their noised counts, so that their rows are in the column's other"},
		{study.OutRare, "left out, since too few rows are in them by the noised counts"},
		{study.OutSingle, "left out, since the column has fewer than two levels that stand out of the noise"},
	} {
		if names := said[reason.why]; len(names) > 0 {
			text += fmt.Sprintf("; %s: %s", reason.says, strings.Join(names, ", "))
		}
	}
	return text
}

// levelsNote says what the constants of levels are.
const levelsNote = "of a column with levels, offset_ is 0, scale_ the root of a level's released share p and mean_ p over that root: 1 in a row's own level and 0 in the others become what factor analysis of mixed data takes; a text that is no level, or a level that left_out_ has as joined, counts as the column's other"
