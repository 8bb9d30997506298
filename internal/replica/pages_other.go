//go:build !linux

package replica

// rest does nothing here.
func rest(string) {}
