package study

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/strict"
)

// columnsNamed is how many columns one error names.
const columnsNamed = 3

// checkWritten checks of study.toml what the decoded Spec does not show any more: which keys are
// there. A zero that somebody wrote is refused, since an absent key takes a default and a 0 that is
// there is not meant as one.
func checkWritten(text []byte) error {
	var written map[string]any
	if err := toml.Unmarshal(text, &written); err != nil {
		return fieldError(fieldTOML, "%v", err)
	}
	for _, key := range []string{
		"rounds", "alpha", "lambda", "c", "radius_share", "components",
		"center_share", "variance_share", "lambda_share", "bound_share", "norm_bound", "radius", "corrupt", "dropout", "sites_per_unit",
	} {
		if v := written[key]; v == int64(0) || v == 0.0 {
			return fieldError(key, "must be positive, got 0; leave it out for the default")
		}
	}
	columns, _ := lookup(written, "columns").([]any)
	for i, column := range columns {
		keys, _ := column.(map[string]any)
		if v := lookup(keys, "scale"); v == int64(0) || v == 0.0 {
			return fieldError(fmt.Sprintf("columns[%d].scale", i), "must be positive, got 0; scale = 1 takes the values as they are")
		}
	}
	return nil
}

// checkConstants refuses columns that do not say how their values are scaled. A column whose scale
// was forgotten would be taken as it is, and one in large numbers would be the first component
// whatever the others hold.
func checkConstants(text []byte) error {
	var written map[string]any
	if err := toml.Unmarshal(text, &written); err != nil {
		return fieldError(fieldTOML, "%v", err)
	}
	columns, _ := lookup(written, "columns").([]any)
	var lacking []string
	first := -1
	for i, column := range columns {
		keys, ok := column.(map[string]any)
		if !ok {
			continue // the decoder refused it
		}
		scale := lookup(keys, "scale")
		asItIs := scale == int64(1) || scale == 1.0
		if asItIs || scale != nil && lookup(keys, "offset") != nil {
			continue
		}
		if first < 0 {
			first = i
		}
		if len(lacking) < columnsNamed {
			name, _ := lookup(keys, "name").(string)
			at := ""
			if line := strict.Line(text, fmt.Sprintf("columns[%d]", i)); line > 0 {
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
	return fieldError(fmt.Sprintf("columns[%d]", first),
		"%s %s no offset and scale: write both, such as offset = 62.0 (a usual value) and scale = 15.0 (a usual spread), or scale = 1 to take the values as they are", names, verb)
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
