package profile

import (
	"fmt"
	"slices"
	"strings"
)

// numberless are a source's columns of which no number can be read, by the reasons, where no study
// asks for them.
type numberless struct {
	reasons []string // in the order of their first columns
	columns map[string][]string
}

// add takes a column.
func (n *numberless) add(reason, name string) {
	if n.columns == nil {
		n.columns = map[string][]string{}
	}
	if !slices.Contains(n.reasons, reason) {
		n.reasons = append(n.reasons, reason)
	}
	n.columns[reason] = append(n.columns[reason], name)
}

// report says why there are no numbers. Without that, a file whose compression is not read would
// look like one of texts.
func (n *numberless) report(look func(column, about, text string)) {
	for _, reason := range n.reasons {
		look("", AboutType, fmt.Sprintf("no number can be read of %s: %s. A profile with --study shows what a study makes of them", some(n.columns[reason]), reason))
	}
}

// some joins the first of many names.
func some(names []string) string {
	const most = 20
	if n := len(names) - most; n > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}
