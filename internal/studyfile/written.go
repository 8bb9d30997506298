package studyfile

import (
	"fmt"
	"strings"

	"covey/internal/strict"
)

// columnsNamed is how many columns one error names.
const columnsNamed = 3

// CheckZeros refuses a zero that somebody wrote: an absent key takes a default, and a 0 that is
// there is not meant as one. The decoder does not show which keys are there.
func (f *File) CheckZeros() error {
	for _, key := range []string{
		"rounds", "alpha", "lambda", "c", "radius_share", "components", "components_max",
		"center_share", "variance_share", "lambda_share", "bound_share", "norm_bound", "radius", "corrupt", "dropout", "sites_per_unit",
	} {
		if zero(lookup(f.written, key)) {
			return bad(key, "must be positive, got 0; leave it out for the default")
		}
	}
	const scale = "must be positive, got 0; scale = 1 takes the values as they are"
	if zero(lookup(f.defaults(), "scale")) {
		return bad("defaults.scale", scale)
	}
	for i := range f.columns() {
		if zero(lookup(f.column(i), "scale")) {
			return bad(item(i)+".scale", scale)
		}
	}
	return nil
}

func zero(v any) bool { return v == int64(0) || v == 0.0 }

// CheckConstants refuses columns that do not say how their values are scaled. A column whose scale
// was forgotten would be taken as it is, and one in large numbers would be the first component
// whatever the others hold. scaled reports whether the study scales a column by itself.
func (f *File) CheckConstants(scaled func(i int) bool) error {
	var lacking []string
	first := -1
	for i := range f.columns() {
		if scaled(i) {
			continue
		}
		scale := f.value(i, "scale")
		asItIs := scale == int64(1) || scale == 1.0
		if asItIs || scale != nil && f.value(i, "offset") != nil {
			continue
		}
		if first < 0 {
			first = i
		}
		if len(lacking) < columnsNamed {
			name, _ := lookup(f.column(i), "name").(string)
			at := ""
			if line := strict.Line(f.Text, item(i)); line > 0 {
				at = fmt.Sprintf(" (line %d)", line)
			}
			lacking = append(lacking, fmt.Sprintf("%.100q%s", name, at))
		} else {
			lacking = append(lacking, "")
		}
	}
	if first < 0 {
		return nil
	}
	count, verb := len(lacking), "has"
	names := strings.Join(lacking[:min(count, columnsNamed)], ", ")
	if count > 1 {
		verb = "have"
	}
	if count > columnsNamed {
		names += fmt.Sprintf(" and %d more", count-columnsNamed)
	}
	return bad(item(first),
		"%s %s no offset and scale: write both, such as offset = 62.0 (a usual value) and scale = 15.0 (a usual spread), or scale = 1 to take the values as they are; or let the study learn them, with standardize = \"private\" above the columns", names, verb)
}

func bad(key, format string, args ...any) error {
	return &strict.Error{Key: key, Reason: fmt.Sprintf(format, args...)}
}

// lookup returns a table's value of a key, in any case of letters, as the decoder takes it.
func lookup(table map[string]any, key string) any {
	for k, v := range table {
		if strings.EqualFold(k, key) {
			return v
		}
	}
	return nil
}
