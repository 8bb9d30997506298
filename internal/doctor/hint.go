package doctor

import (
	"errors"
	"fmt"

	"covey/internal/dataset"
)

// hint returns what to do about a fault of a data set, where more is known than the code; empty
// where not. It may repeat names of the file's header: it is for this site's terminal and goes into
// no log.
func hint(err error) string {
	bad, ok := errors.AsType[*dataset.Error](err)
	switch {
	case !ok:
		return ""
	case len(bad.Near) > 0:
		return fmt.Sprintf("the data set has %q: if one of these is the column, name it under [dataset.columns] in agent.toml", bad.Near)
	case bad.Missing():
		return `ask the analyst for a study that takes missing values: missing = "fill" or "zero" keeps such rows, "drop-row" leaves them out; or complete the file`
	}
	return ""
}
