package name

import "strings"

// Cell returns a text as a field of a CSV file that no spreadsheet takes for a formula: what begins
// as one has an apostrophe before it. So does what follows a semicolon, which parts cells where
// commas are in numbers, behind quotes, too: there they are the next cell's own. Text that begins
// with an apostrophe also gets one, so that no two texts become one.
func Cell(s string) string {
	cells := strings.Split(s, ";")
	for i, cell := range cells {
		// some spreadsheets also read the wide signs of East Asian keyboards as a beginning
		if strings.IndexAny(strings.TrimLeft(cell, "\" "), "=+-@\t\r'＝＋－＠") == 0 {
			cells[i] = "'" + cell
		}
	}
	return strings.Join(cells, ";")
}
