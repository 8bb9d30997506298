package study

import "fmt"

// FieldError is a proposal that cannot be: it names the field as written in
// study.toml and the bound. It never carries data, only parameters.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return "study: " + e.Field + ": " + e.Reason }

func fieldError(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

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
