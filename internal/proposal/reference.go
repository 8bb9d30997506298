package proposal

import "strings"

// LooksLikeDigest reports whether text can stand for a digest, whole or cut: it is four or more
// hexadecimal digits and nothing else. No study is named so.
func LooksLikeDigest(text string) bool {
	return len(text) >= 4 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// Refers reports whether a person's word for a study means the one of this digest and name. What
// looks like a digest is one: a name is chosen by whoever proposes, and must not take its place.
func Refers(ref string, digest Digest, name string) bool {
	if LooksLikeDigest(ref) {
		return strings.HasPrefix(digest.String(), strings.ToLower(ref))
	}
	return ref == name
}
