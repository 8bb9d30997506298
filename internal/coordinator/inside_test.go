package coordinator

import (
	"reflect"

	"covey/internal/round"
	"covey/internal/wire"
)

// inside returns what a session holds in a field, which nobody else can see.
func inside[T any](s *memory, field string) T {
	f := reflect.ValueOf(s.Session).Elem().FieldByName(field)
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Interface().(T)
}

// heard returns the event of a site's message, once what takes long is done.
func heard(s *memory, site int, m wire.Message) round.Event {
	e, later := s.Hear(site, m)
	if later != nil {
		return later()()
	}
	return e
}
