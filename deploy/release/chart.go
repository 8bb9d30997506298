package main

import (
	"fmt"
	"regexp"
	"strings"
)

// chart returns deploy/helm/covey as entries under a name, with the release's version in it, as
// Helm names it and as the image's tag.
func (r *release) chart(name string) ([]entry, error) {
	files, err := read("deploy/helm/covey", name)
	for i, f := range files {
		if f.name != name+"/Chart.yaml" {
			continue
		}
		text := string(f.content)
		for _, key := range []struct{ old, new string }{
			{"\nversion: 0.0.0-dev\n", "\nversion: " + chartVersion(r.version) + "\n"},
			{"\nappVersion: 0.0.0-dev\n", fmt.Sprintf("\nappVersion: %q\n", r.version)},
		} {
			if strings.Count(text, key.old) != 1 {
				return nil, fmt.Errorf("deploy/helm/covey/Chart.yaml has no line %q", strings.TrimSpace(key.old))
			}
			text = strings.Replace(text, key.old, key.new, 1)
		}
		files[i].content = []byte(text)
	}
	return files, err
}

var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?$`)

// chartVersion returns a version that Helm takes: a semantic one, without a v. Any other version,
// such as a commit's name, becomes 0.0.0-gNAME.
func chartVersion(version string) string {
	v := strings.TrimPrefix(version, "v")
	if semantic.MatchString(v) {
		return v
	}
	return "0.0.0-g" + regexp.MustCompile(`[^0-9A-Za-z]+`).ReplaceAllString(v, "-")
}
