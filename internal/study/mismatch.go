package study

import "fmt"

// MismatchError is a query that does not fit the approved plan: an agent that
// meets one answers nothing.
type MismatchError struct {
	Query  int
	Field  string
	Reason string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("study: query %d does not fit the plan: %s: %s", e.Query, e.Field, e.Reason)
}

func mismatch(query int, field, format string, args ...any) error {
	return &MismatchError{Query: query, Field: field, Reason: fmt.Sprintf(format, args...)}
}
