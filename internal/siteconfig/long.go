package siteconfig

import (
	"bytes"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"

	"covey/internal/strict"
)

// fewLines is how many lines of [dataset.columns] are decoded at a time: the decoder compares each
// key with all before it in its table, which takes 20 s for a hundred thousand.
const fewLines = 1000

// columnLines are some lines of the [dataset.columns] of a data set.
type columnLines struct {
	dataset int
	text    []byte
}

// decode is strict.Decode into c. Long lists of columns are decoded in parts. If anything is
// wrong, the whole text is decoded at once, which gives the usual error.
func (c *Config) decode(text []byte) error {
	empty := *c
	if rest, parts := apart(text); parts != nil && c.decodeParts(rest, parts) {
		return nil
	}
	*c = empty
	return strict.Decode(text, c)
}

func (c *Config) decodeParts(rest []byte, parts []columnLines) bool {
	if strict.Decode(rest, c) != nil {
		return false
	}
	for _, part := range parts {
		columns := map[string]any{}
		if part.dataset < 0 || part.dataset >= len(c.Datasets) || strict.DecodeSpelled(part.text, &columns) != nil {
			return false
		}
		d := &c.Datasets[part.dataset]
		if d.Columns == nil {
			d.Columns = map[string]any{}
		}
		for name, from := range columns {
			if _, twice := d.Columns[name]; twice {
				return false
			}
			d.Columns[name] = from
		}
	}
	return true
}

// apart takes long [dataset.columns] out of a configuration, all but their headers. parts is nil
// if the configuration has no long ones.
func apart(text []byte) (rest []byte, parts []columnLines) {
	var p unstable.Parser
	p.Reset(text)
	rest = bytes.Clone(text)
	dataset, inside, lines, from, last := -1, false, 0, 0, ""
	cut := func(to int) {
		if inside && lines > 0 {
			parts = append(parts, columnLines{dataset, text[from:to]})
			for i := from; i < to; i++ {
				if rest[i] != '\n' {
					rest[i] = ' '
				}
			}
		}
		from = to
	}
	for p.NextExpression() {
		node, at := p.Expression(), -1
		var keys []string
		for key := node.Key(); key.Next(); {
			if keys = append(keys, string(key.Node().Data)); at < 0 {
				at = int(key.Node().Raw.Offset)
			}
		}
		line := bytes.LastIndexByte(text[:max(at, 0)], '\n') + 1 // on which the expression begins
		switch node.Kind {
		case unstable.KeyValue:
			if inside && (lines == 0 || lines >= fewLines && keys[0] != last) { // not amid c.from and c.add
				cut(line)
				lines = 0
			}
			lines, last = lines+1, keys[0]
		case unstable.Table, unstable.ArrayTable:
			cut(line)
			if lines, inside = 0, slices.Equal(keys, []string{"dataset", "columns"}); slices.Equal(keys, []string{"dataset"}) {
				dataset++
			}
		}
	}
	cut(len(text))
	if p.Error() != nil || len(parts) < 3 {
		return nil, nil
	}
	return rest, parts
}
