package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// module is a dependency that a program was linked with.
type module struct{ path, version string }

// inventory notes the modules of a program, and the Go that built it, from the list that the linker
// wrote into it.
func (r *release) inventory(file string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	r.modules[module{"std", strings.TrimPrefix(info.GoVersion, "go")}] = true
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		r.modules[module{m.Path, m.Version}] = true
	}
	return nil
}

// component is CycloneDX's (ECMA-424).
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl,omitempty"`
}

// bill returns the release's bill of materials: CycloneDX 1.5, JSON. It has no serial number, which
// would be random.
func (r *release) bill() []byte {
	type metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	bill := struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}{"CycloneDX", "1.5", 1, metadata{r.time.Format(time.RFC3339), component{"application", "covey@" + r.version, "covey", r.version, ""}}, nil}
	for m := range r.modules {
		url := "pkg:golang/" + strings.ToLower(m.path) + "@" + strings.ReplaceAll(m.version, "+", "%2B")
		bill.Components = append(bill.Components, component{"library", url, m.path, m.version, url})
	}
	slices.SortFunc(bill.Components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	raw, err := json.MarshalIndent(bill, "", "  ")
	if err != nil {
		panic(err) // of strings
	}
	return append(raw, '\n')
}
