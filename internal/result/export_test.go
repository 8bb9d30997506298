package result

import (
	"testing"

	"covey/internal/study"
)

// Wide returns a signed result of so many columns, whose releases are whole.
func Wide(t testing.TB, method string, d int) (*study.Plan, *Result) {
	p, body, releases := wideStudy(t, method, d)
	return p, made(t, p, body, signReleases(t, releases))
}
