// Package must ends a test if something that has to work fails.
package must

import "errors"

// TB is a test, a benchmark, a fuzz test's or that of a property.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Do ends the test with an error.
func Do(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is Do for what returns a value besides: must.Get(os.ReadFile(path))(t).
func Get[V any](value V, err error) func(TB) V {
	return func(t TB) V {
		t.Helper()
		Do(t, err)
		return value
	}
}

// As returns the error of one type in err, and ends the test if there is none.
func As[E error](t TB, err error) E {
	t.Helper()
	at, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("got %v (%T), want a %T", err, err, at)
	}
	return at
}
