// Package name says which names sites, analysts and coordinators may have, and which texts of one
// party people of another can read.
package name

import "strings"

// Valid reports whether s may be the name of a site, an analyst or a coordinator: 1 to 63
// characters from a-z, 0-9 and hyphen, without a hyphen at either end. It then fits a DNS label, a
// file name, a command line and a metric's label.
func Valid(s string) bool { return Label(s, "abcdefghijklmnopqrstuvwxyz0123456789-") }

// Label reports whether s has the form of a DNS label: 1 to 63 of the allowed characters, without a
// hyphen at either end.
func Label(s, allowed string) bool {
	return len(s) >= 1 && len(s) <= 63 && strings.Trim(s, allowed) == "" && s[0] != '-' && s[len(s)-1] != '-'
}
