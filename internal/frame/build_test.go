package frame

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestNamed(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	info := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision, clean, dirty := debug.BuildSetting{Key: "vcs.revision", Value: commit}, debug.BuildSetting{Key: "vcs.modified", Value: "false"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		told, archived string
		info           *debug.BuildInfo
		want           string
	}{
		{"1.2.3", commit, info("v9.9.9", revision, dirty), "1.2.3"},
		{"", "$Format$", info("v1.0.1-0.20260101000000-0123456789ab+dirty", revision, dirty), "v1.0.1-0.20260101000000-0123456789ab+dirty"},
		{"", "$Format$", info("(devel)", revision, clean), "0123456789ab"},
		{"", "$Format$", info("(devel)", revision, dirty), "0123456789ab+dirty"},
		{"", commit, info("(devel)"), "0123456789ab"},
		{"", commit, nil, "0123456789ab"},
		{"", "$Format$", info("(devel)"), ""},
		{"", "$Format$", nil, ""},
	} {
		if got := named(c.told, c.archived, c.info); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if Release() == "" || strings.HasSuffix(Software("covey-agent"), "/") {
		t.Error("a build without a name")
	}
}
