package proposal

import (
	"fmt"

	"covey/internal/strict"
)

// FieldError is a proposal that cannot be: it names the field as written in
// study.toml and the bound. It never carries data, only parameters.
type FieldError struct {
	Field  string
	Reason string
	Line   int // of the text that was read; 0 if there is none
}

func (e *FieldError) Error() string { return "study: " + strict.At(e.Line) + e.Field + ": " + e.Reason }

// Words returns the error for the person who reads the file: line, field and reason.
func (e *FieldError) Words() string {
	if e.Field == fieldTOML {
		return e.Reason // names the line
	}
	return strict.At(e.Line) + e.Field + ": " + e.Reason
}

// fieldTOML is the Field of a text that is not TOML, or has a value of the wrong kind.
const fieldTOML = "toml"

// FieldErrorf returns a [*FieldError] with a formatted reason.
func FieldErrorf(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}
