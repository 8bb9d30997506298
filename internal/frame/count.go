package frame

import "strconv"

// Count is n of what one or more of them are called: "1 query", "2 queries".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}
