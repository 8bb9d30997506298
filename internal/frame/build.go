package frame

import (
	"runtime/debug"
	"strings"
)

// version is set by deploy/build.sh.
var version string

// archived is the commit of an archive that git made: .gitattributes has it filled in there.
const archived = "$Format:%H$"

// Release returns this build's name for people: what deploy/build.sh was told, else what the Go
// toolchain recorded of the module or its commit, else the commit of git's archive.
func Release() string {
	if name := build(); name != "" {
		return name
	}
	return "unknown (built without version control)"
}

// Software returns the name and version of a program of this build, such as "covey-agent/1.4.0".
func Software(program string) string {
	name := build()
	if name == "" {
		name = "unknown"
	}
	return program + "/" + name
}

// build is Release's name, clean, or empty if nothing says it.
func build() string {
	info, _ := debug.ReadBuildInfo()
	return Clean(named(version, archived, info))
}

// named returns the first of: what the linker was told, the module's version, the commit that the
// toolchain saw, the commit of an archive. info may be nil.
func named(told, archived string, info *debug.BuildInfo) string {
	if told != "" {
		return told
	}
	if info != nil {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			return v
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; commit != "" {
			commit = commit[:min(len(commit), 12)]
			if settings["vcs.modified"] == "true" {
				commit += "+dirty"
			}
			return commit
		}
	}
	if strings.HasPrefix(archived, "$") { // a checkout
		return ""
	}
	return archived[:min(len(archived), 12)]
}

// Clean keeps what a version can be: another party's is shown to people.
func Clean(s string) string {
	const most = 60
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("./-+_~", r) {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), most)]
}
