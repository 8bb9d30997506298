package profile

import (
	"errors"
	"slices"
	"strings"

	"covey/internal/dataset"
)

// errEnough is of the kind that drivers pass on.
var errEnough = &dataset.Error{Reason: "the types are known"}

// typed finds out which columns that are no numbers are what the study reads them as: levels, true
// or false, or dates. For the others there is the reason. The error is of cells that cannot be
// read.
func (s *sight) typed(source dataset.Source) error {
	source.Mapping.Columns = nil // by the source's own names
	var q dataset.Request
	var at []int
	for j, c := range s.columns {
		if c != nil && c.unused != "" && s.reads[j] != nil {
			r := *s.reads[j]
			r.Indicator = false
			at, q.Readings = append(at, j), append(q.Readings, r)
			q.Columns = append(q.Columns, dataset.Column{Name: strings.Trim(s.header[j], " \t"), Scale: 1})
		}
	}
	q.Missing = dataset.MissingDropFaulty
	for len(at) > 0 {
		_, err := dataset.Stream(source, q, dataset.ReadOptions{}, func(dataset.Block) error { return errEnough })
		e, ok := errors.AsType[*dataset.Error](err)
		i := -1
		if ok && e.Schema == dataset.SchemaFormat {
			i = slices.IndexFunc(q.Columns, func(c dataset.Column) bool { return c.Name == e.Column })
		}
		if i < 0 {
			if err != nil && !errors.Is(err, errEnough) && s.r.Rows > 0 {
				return err
			}
			break
		}
		s.columns[at[i]].unused = e.Reason
		at, q.Columns, q.Readings = slices.Delete(at, i, i+1), slices.Delete(q.Columns, i, i+1), slices.Delete(q.Readings, i, i+1)
	}
	for _, j := range at {
		s.columns[j].fits = true
	}
	return nil
}
