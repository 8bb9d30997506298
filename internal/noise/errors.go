package noise

import "fmt"

// ParameterError is a parameter outside its bounds.
type ParameterError struct {
	Name   string
	Reason string
}

func (e *ParameterError) Error() string { return "noise: " + e.Name + ": " + e.Reason }

func parameter(name, format string, args ...any) error {
	return &ParameterError{name, fmt.Sprintf(format, args...)}
}
