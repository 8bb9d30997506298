package score

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
)

// csvSink writes RFC 4180 after a first line of words, which begins with #.
type csvSink struct {
	to   io.Writer
	t    *table
	flag []bool
}

func newCSV(to io.Writer, t *table) (*csvSink, error) {
	names, flag := t.numbers()
	head := []string{"row"}
	if t.units {
		head = append(head, "unit")
	}
	head = append(append(head, names...), "note")
	_, err := io.WriteString(to, "# "+Header+"\n"+strings.Join(head, ",")+"\n")
	return &csvSink{to, t, flag}, err
}

// encode writes numbers as the shortest text that reads back to the same float64.
func (c *csvSink) encode(p *part) []byte {
	out := make([]byte, 0, p.rows()*(20*p.width+40))
	for i := range p.rows() {
		out = strconv.AppendInt(out, int64(p.first+i+1), 10)
		if c.t.units {
			out = append(append(out, ','), quoted(p.units[i])...)
		}
		row := p.numbers[i*p.width : (i+1)*p.width]
		for _, v := range row {
			out = append(out, ',')
			if !math.IsNaN(v) {
				out = strconv.AppendFloat(out, v, 'g', -1, 64)
			}
		}
		out = append(out, ',')
		if math.IsNaN(row[0]) {
			out = append(out, Note...)
		}
		out = append(out, '\n')
	}
	return out
}

// quoted is a unit's name as a field. A spreadsheet would take one that begins as a formula does
// for one: it gets an apostrophe before it.
func quoted(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r'", rune(name[0])) {
		name = "'" + name
	}
	if !strings.ContainsAny(name, "\",\r\n# \t") {
		return name
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{name})
	w.Flush()
	text := strings.TrimSuffix(b.String(), "\n")
	if !strings.HasPrefix(text, `"`) { // a # is where readers that skip comments would cut
		text = `"` + text + `"`
	}
	return text
}

func (c *csvSink) take(_ *part, encoded []byte) error {
	_, err := c.to.Write(encoded)
	return err
}

func (c *csvSink) close(int) error { return nil }
