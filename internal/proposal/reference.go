package proposal

import (
	"fmt"
	"strings"
)

// looksLikeDigest reports whether text can stand for a digest, whole or cut: it is four or more
// hexadecimal digits and nothing else. No study is named so.
func looksLikeDigest(text string) bool {
	return len(text) >= 4 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// Refers reports whether a person's word for a study means the one of this digest and name. What
// looks like a digest is one: its proposer chooses a name, which must not take a digest's place.
func Refers(ref string, digest Digest, name string) bool {
	if looksLikeDigest(ref) {
		return strings.HasPrefix(digest.String(), strings.ToLower(ref))
	}
	return ref == name
}

// maxMatches bounds how many studies an UnknownError names.
const maxMatches = 5

// UnknownError is a reference that names no study, or several.
type UnknownError struct {
	Ref     string
	Matches []Digest // the newest first
}

func (e *UnknownError) Error() string {
	if len(e.Matches) == 0 {
		return fmt.Sprintf("no study %.80q: \"study list\" shows all", e.Ref)
	}
	var newest []string
	for _, d := range e.Matches[:min(len(e.Matches), maxMatches)] {
		newest = append(newest, d.String()[:12])
	}
	return fmt.Sprintf("%d studies match %.80q; give the digest of one, such as %s", len(e.Matches), e.Ref, strings.Join(newest, ", "))
}
