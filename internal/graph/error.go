package graph

import "fmt"

// Error is a graph that cannot be, or a set that is not acceptable: it names the number and the
// bound.
type Error struct{ Reason string }

func (e *Error) Error() string { return "graph: " + e.Reason }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// CheckSet checks that u is strictly ascending, within sites, and has at least least of them.
func CheckSet(u []int, sites, least int) error {
	last := -1
	for _, i := range u {
		if i <= last || i >= sites {
			return refuse("survivors are not ascending indices below %d", sites)
		}
		last = i
	}
	if len(u) < least {
		return refuse("%d survivors, at least %d are needed", len(u), least)
	}
	return nil
}
