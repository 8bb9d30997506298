package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// report is what a command found: tables in the order in which they are read, ratios first.
type report struct {
	Command string  `json:"command"`
	Tables  []table `json:"tables"`
}

// table is rows under heads. A cell is a string, an int, a float64, or nil where there is none.
type table struct {
	Title string   `json:"title"`
	Head  []string `json:"head"`
	Rows  [][]any  `json:"rows"`
	Notes []string `json:"notes,omitempty"`
}

func (t *table) row(cells ...any) { t.Rows = append(t.Rows, cells) }

func (t *table) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

func (r *report) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	for i, t := range r.Tables {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := t.markdown(w); err != nil {
			return err
		}
	}
	return nil
}

// markdown writes a table with its title above it and its notes below. Columns of numbers are flush right.
func (t *table) markdown(w io.Writer) error {
	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Title)
	}
	rule := make([]string, len(t.Head))
	for i := range rule {
		rule[i] = "---"
		if len(t.Rows) > 0 {
			if _, text := t.Rows[0][i].(string); !text {
				rule[i] = "--:"
			}
		}
	}
	fmt.Fprintf(&b, "| %s |\n| %s |\n", strings.Join(t.Head, " | "), strings.Join(rule, " | "))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = text(c)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// text is a cell for people: floats with two or three digits, and whole above 100.
func text(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case float64:
		switch {
		case v == 0:
			return "0"
		case math.Abs(v) >= 100:
			return strconv.FormatFloat(v, 'f', 0, 64)
		case math.Abs(v) >= 10:
			return strconv.FormatFloat(v, 'f', 1, 64)
		}
		return strconv.FormatFloat(v, 'f', max(2, 1-int(math.Floor(math.Log10(math.Max(math.Abs(v), 1e-4))))), 64)
	}
	return fmt.Sprint(cell)
}
