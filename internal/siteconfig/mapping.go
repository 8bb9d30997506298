package siteconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"covey/internal/dataset"
	"covey/internal/strict"
)

// Mapping is how the data set's table becomes the one that studies ask for. check made sure that it
// can be.
func (d Dataset) Mapping() dataset.Mapping {
	m, _ := d.mapping()
	return m
}

func (d Dataset) mapping() (dataset.Mapping, error) {
	m := dataset.Mapping{
		Separator: d.Separator, Decimal: d.Decimal, Thousands: d.Thousands, Encoding: dataset.Encoding(d.Encoding),
		SkipRows: d.SkipRows, SkipLast: d.SkipLast, MissingValues: d.MissingValues, Dates: d.Dates,
	}
	if m.Separator == "tab" {
		m.Separator = "\t"
	}
	if len(d.Columns) > 0 {
		m.Columns = make(map[string]dataset.From, len(d.Columns))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Columns)) {
		from, err := fromOf(d.Columns[name], "columns."+name)
		if err != nil {
			return m, err
		}
		m.Columns[name] = from
	}
	return m, nil
}

// fromOf reads the line of one column: the source's name of it, or a table.
func fromOf(value any, key string) (f dataset.From, err error) {
	bad := func(key, format string, args ...any) (dataset.From, error) {
		return f, &dataset.MappingError{Key: key, Reason: fmt.Sprintf(format, args...)}
	}
	if name, ok := value.(string); ok {
		return dataset.From{Name: name}, nil
	}
	table, ok := value.(map[string]any)
	if !ok {
		return bad(key, `must be text in quotes, or a table such as { from = "Kreatinin", multiply = 88.4 }`)
	}
	for _, word := range slices.Sorted(maps.Keys(table)) {
		at, v := key+"."+word, table[word]
		switch word {
		case "from":
			if f.Name, ok = v.(string); !ok || f.Name == "" {
				return bad(at, "must be the column's name in the file, in quotes")
			}
		case "dates":
			if f.Dates, ok = v.(string); !ok || f.Dates == "" {
				return bad(at, `must be a form of dates in quotes, such as "DD.MM.YYYY"`)
			}
		case "multiply", "add":
			number, ok := v.(float64)
			if whole, integer := v.(int64); integer {
				number, ok = float64(whole), true
			}
			if !ok {
				return bad(at, "must be a number")
			}
			if word == "add" {
				f.Add = number
				break
			}
			if f.Multiply = number; number == 0 {
				return bad(at, "must not be 0")
			}
		case "names":
			names, ok := v.(map[string]any)
			if !ok {
				return bad(at, `must be a table such as { "w" = "F", "m" = "M" }`)
			}
			f.Names = make(map[string]string, len(names))
			for _, text := range slices.Sorted(maps.Keys(names)) {
				if f.Names[text], ok = names[text].(string); !ok {
					return bad(at, "each must be text in quotes")
				}
			}
		default:
			reason := "unknown key"
			if meant := strict.Nearest(word, []string{"from", "multiply", "add", "names", "dates"}); meant != "" {
				reason += fmt.Sprintf("; did you mean %q?", meant)
			}
			return bad(at, "%s", reason)
		}
	}
	return f, nil
}

// checkMapping checks what the site says of its own table.
func (c *Config) checkMapping(key string, d Dataset) error {
	m, err := d.mapping()
	if err == nil {
		err = m.Check(d.Unit)
	}
	if bad, ok := errors.AsType[*dataset.MappingError](err); ok {
		return c.Errorf(key+"."+bad.Key, "%s", bad.Reason)
	}
	if err != nil {
		return c.Errorf(key, "%v", err)
	}
	if f := c.Source(d).Kind(); m.Text() && !f.Text() {
		return c.Errorf(key+".format", "separator, decimal, thousands, encoding, skip_rows and skip_last are for csv and csv.gz")
	}
	return nil
}
