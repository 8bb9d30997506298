package simulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"covey/internal/clip"
	"covey/internal/dataset"
	_ "covey/internal/dataset/npy" // of every program; Parquet is of those that import its reader
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
)

// Site is one site's rows, as the kernel and as the pooled answer take them.
type Site struct {
	matrix *clip.Matrix
	rows   *dataset.Rows
}

// Units is how many units the site has.
func (s *Site) Units() int { return s.matrix.N() }

// String returns the shape, never the values.
func (s *Site) String() string { return s.matrix.String() }

// GoString is String, for %#v.
func (s *Site) GoString() string { return s.String() }

// ReadSite reads the rows that a spec asks of a site. path is a file whose columns are the study's,
// or a site's agent.toml or the folder of one: then it is the data set that the study names, with
// the site's own mapping. Errors are a *dataset.Error, of a value at fault too, a *siteconfig.Error
// and an error that names the data set.
func ReadSite(path string, spec proposal.Spec) (*Site, error) {
	source, set := dataset.Source{Path: path}, siteconfig.Dataset{}
	if holdsConfig(path) {
		c, err := siteconfig.Read(path)
		if err != nil {
			return nil, err
		}
		found := false
		if set, found = c.Dataset(spec.Dataset); !found {
			return nil, fmt.Errorf("%s: has no data set %q, which the study asks for", c.File(), spec.Dataset)
		}
		if set.Unit != spec.Unit { // which the site refuses, and another number of units to learn of
			return nil, fmt.Errorf("%s: data set %q: its unit is %q, the study's %q: its site refuses such a study", c.File(), set.Name, set.Unit, spec.Unit)
		}
		source = c.Source(set)
	}
	rows, err := dataset.Read(source, set.Request(spec), dataset.ReadOptions{})
	if bad, ok := errors.AsType[*dataset.Error](err); ok && bad.Remedy != "" {
		err = fmt.Errorf("%w: %s", err, bad.Remedy)
		if !holdsConfig(path) {
			err = fmt.Errorf("%w (an agent.toml can be given in place of the file)", err)
		}
	}
	if err != nil {
		return nil, err
	}
	return newSite(rows)
}

func holdsConfig(path string) bool {
	_, err := os.Stat(filepath.Join(path, siteconfig.File))
	return err == nil || strings.HasSuffix(path, ".toml")
}

func newSite(rows *dataset.Rows) (*Site, error) {
	matrix, err := sitedata.Matrix(rows)
	return &Site{matrix, rows}, err
}

// visit shows the rows that are not left out.
func (s *Site) visit(see func(row []float64)) {
	s.rows.Visit(func(row []float64, dropped bool) {
		if !dropped {
			see(row)
		}
	})
}

// Visits shows the rows of all sites.
func Visits(sites []*Site) Visit {
	return func(see func(row []float64)) error {
		any := false
		for _, s := range sites {
			s.visit(func(row []float64) { any = true; see(row) })
		}
		if !any {
			return errors.New("no site has a row with a value in every column")
		}
		return nil
	}
}
