package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestAgree(t *testing.T) {
	for _, c := range []struct {
		agent, coordinator [2]int // oldest, newest
		upgrade            string // "" where they work together
	}{
		{[2]int{2, 2}, [2]int{2, 2}, ""},
		{[2]int{2, 2}, [2]int{2, 3}, ""},
		{[2]int{2, 3}, [2]int{1, 2}, ""},
		{[2]int{1, 5}, [2]int{3, 3}, ""},
		{[2]int{1, 1}, [2]int{2, 3}, "agent"},
		{[2]int{3, 3}, [2]int{2, 2}, "coordinator"},
		{[2]int{2, 4}, [2]int{1, 1}, "coordinator"},
	} {
		err := Agree(Version{c.agent[1], c.agent[0], "covey-agent/a"}, Version{c.coordinator[1], c.coordinator[0], "covey-coordinator/c"})
		e, refused := errors.AsType[*VersionError](err)
		if refused != (c.upgrade != "") || refused && e.Upgrade() != c.upgrade {
			t.Errorf("%v and %v: %v", c.agent, c.coordinator, err)
		}
		if refused && (!strings.Contains(err.Error(), "covey-agent/a") || !strings.Contains(err.Error(), "covey-coordinator/c") || !strings.HasSuffix(err.Error(), "upgrade the "+c.upgrade)) {
			t.Errorf("%q", err)
		}
	}
}

func TestVersionOf(t *testing.T) {
	pairs := This("covey-agent").Pairs()
	said := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		said[pairs[i]] = []string{pairs[i+1]}
	}
	if got := VersionOf(said, "an agent"); got != This("covey-agent") || !Says(said) {
		t.Errorf("%+v is read as %+v", This("covey-agent"), got)
	}
	silent := Version{0, 0, "an agent that names no software"}
	for _, m := range []map[string][]string{
		nil,
		{protocolKey: {"2"}, softwareKey: {""}},
		{protocolKey: {"2", "3"}, oldestKey: {"2"}},
		{protocolKey: {"-2"}, oldestKey: {"-2"}},
		{protocolKey: {"2"}, oldestKey: {"3"}},
		{protocolKey: {"2"}, oldestKey: {"0"}},
		{protocolKey: {"99999999999999999999"}, oldestKey: {"1"}},
	} {
		got := VersionOf(m, "an agent")
		if got != silent {
			t.Errorf("%v is read as %+v", m, got)
		}
		if e, ok := errors.AsType[*VersionError](Agree(got, This("covey-coordinator"))); !ok || e.Upgrade() != "agent" || !strings.Contains(e.Error(), "speaks no protocol of Covey's") {
			t.Errorf("%v agrees: %v", m, e)
		}
	}
	if got := VersionOf(map[string][]string{softwareKey: {"a\n\x1b[31mb" + strings.Repeat("c", 100)}}, ""); got.Software != "a31mb"+strings.Repeat("c", 55) {
		t.Errorf("%q", got.Software)
	}
}
