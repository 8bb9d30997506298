package score

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"

	"covey/internal/name"
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
	_, err := io.WriteString(to, "# "+header+"\n"+strings.Join(head, ",")+"\n")
	return &csvSink{to, t, flag}, err
}

// encode writes numbers as the shortest text that reads back to the same float64.
func (c *csvSink) encode(out []byte, p *part) []byte {
	for i := range p.rows() {
		out = strconv.AppendInt(out, int64(p.first+i+1), 10)
		if c.t.units {
			out = append(append(out, ','), quoted(p.units[i])...)
		}
		row := p.numbers[i*p.width : (i+1)*p.width]
		for j, v := range row {
			out = append(out, ',')
			switch {
			case math.IsNaN(v):
			case c.flag[j]:
				out = append(out, '0'+byte(v))
			default:
				out = appendShortest(out, v)
			}
		}
		out = append(out, ',')
		if math.IsNaN(row[0]) {
			out = append(out, note...)
		}
		out = append(out, '\n')
	}
	return out
}

// appendShortest appends what [strconv.AppendFloat] does of format g and precision -1, in less
// time: most numbers here are near 1, and of format e the library copies the digits at once.
func appendShortest(out []byte, v float64) []byte {
	begin := len(out)
	out = strconv.AppendFloat(out, v, 'e', -1, 64)
	if v < 0 {
		begin++
	}
	end := len(out) - 4 // of the digits
	if end <= begin || out[end] != 'e' {
		return out // an exponent of three digits, or no number
	}
	exponent := int(out[end+2]-'0')*10 + int(out[end+3]-'0')
	if out[end+1] == '-' {
		exponent = -exponent
	}
	if exponent < -4 || exponent > 5 {
		return out
	}
	if exponent == 0 {
		return out[:end]
	}
	var digits [24]byte
	n := 1 + copy(digits[1:], out[min(begin+2, end):end])
	digits[0] = out[begin]
	out = out[:begin]
	if exponent < 0 {
		out = append(out, "0.000"[:1-exponent]...)
		return append(out, digits[:n]...)
	}
	whole := exponent + 1
	if n <= whole {
		out = append(out, digits[:n]...)
		return append(out, "00000"[:whole-n]...)
	}
	out = append(append(out, digits[:whole]...), '.')
	return append(out, digits[whole:n]...)
}

// quoted is a unit's name as a field.
func quoted(unit string) string {
	unit = name.Cell(unit)
	if !strings.ContainsAny(unit, "\",\r\n# \t") {
		return unit
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{unit})
	w.Flush()
	text := strings.TrimSuffix(b.String(), "\n")
	if !strings.HasPrefix(text, `"`) { // a # is where readers that skip comments would cut
		text = `"` + text + `"`
	}
	return text
}

func (c *csvSink) take(_ []*part, encoded []byte) error {
	_, err := c.to.Write(encoded)
	return err
}

func (c *csvSink) close(int) error { return nil }
