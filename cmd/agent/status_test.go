package main

import (
	"strings"
	"testing"

	"covey/internal/agent"
)

// TestStatusTellsOfClocks: the operator is told of clocks that are more than five minutes apart,
// and which is ahead; of no clock before the coordinator told its own.
func TestStatusTellsOfClocks(t *testing.T) {
	var unknown strings.Builder
	printStatus(&unknown, agent.Status{})
	if strings.Contains(unknown.String(), "clock") {
		t.Error(unknown.String())
	}
	for ahead, want := range map[int64]string{
		0: "", 300: "", -300: "",
		301: "5m1s ahead of the coordinator's", -31 * 24 * 3600: "744h0m0s behind the coordinator's",
	} {
		var out strings.Builder
		printStatus(&out, agent.Status{ClockAhead: &ahead})
		if got := out.String(); !strings.Contains(got, want) || strings.Contains(got, "clock") != (want != "") {
			t.Errorf("%d seconds ahead: %q", ahead, got)
		}
	}
}
