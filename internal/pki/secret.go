package pki

// secret holds a value that must not be printed. Methods such as Format keep a
// value out of fmt and slog, but fmt cannot call them on a field that is not
// exported; of a func it prints an address, and encoders refuse it.
type secret[T any] func() T

func hide[T any](v T) secret[T] { return func() T { return v } }
