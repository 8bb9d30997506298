package cli

import (
	"errors"
	"os"
	"path/filepath"

	"covey/internal/draft"
	"covey/internal/proposal"
)

// Init writes a first study file, of a header or a data dictionary.
type Init struct {
	Header     string  `xor:"from" type:"path" placeholder:"FILE" help:"A CSV whose first line names the columns; no byte after that line is read."`
	Dictionary string  `xor:"from" type:"path" placeholder:"FILE" help:"Instead of --header: a data dictionary, a CSV with one line for each column, as REDCap exports it."`
	Out        string  `type:"path" placeholder:"FILE" help:"Write to this file, which must not exist, instead of stdout."`
	Name       string  `help:"The study's name."`
	Dataset    string  `help:"The name under which the sites offer the table."`
	Epsilon    float64 `help:"The privacy parameter ε."`
	Delta      float64 `default:"1e-6" help:"The privacy parameter δ (${default})."`
	Unit       string  `placeholder:"COLUMN" help:"The column whose value says which rows are one unit."`
	Constants  string  `enum:"private,public" default:"private" help:"Learn offset and scale (private), or take them from the dictionary's ranges where it has any (public)."`
}

// Run prints the file, or makes it.
func (c *Init) Run(t *Terminal) error {
	file, read := c.Header, draft.Header
	if c.Header == "" && c.Dictionary == "" { // not kong's "required": its usage would show both flags
		return Bad("give --header FILE or --dictionary FILE")
	}
	if c.Dictionary != "" {
		file, read = c.Dictionary, draft.Dictionary
	} else if c.Constants == "public" {
		return Bad("--constants public takes offset and scale from a dictionary's ranges, and a header has no ranges")
	}
	f, err := os.Open(file)
	if err != nil {
		return Bad("%v", err)
	}
	defer f.Close()
	d, err := read(f, filepath.Base(file))
	if err != nil {
		return Bad("%s: %v", file, err)
	}
	text, err := d.Text(draft.Blanks{Name: c.Name, Dataset: c.Dataset, Unit: c.Unit, Epsilon: c.Epsilon, Delta: c.Delta, Public: c.Constants == "public"})
	if bad, ok := errors.AsType[*proposal.FieldError](err); ok {
		return Bad("%s does not make a valid study: %s: %s", file, bad.Field, bad.Reason)
	}
	if err != nil {
		return Bad("%s: %v", file, err)
	}
	for _, note := range d.Shown() {
		t.Say("%s", note)
	}
	if c.Out == "" {
		_, err = t.Out.Write(text)
		return err
	}
	return WriteNew(c.Out, text)
}
