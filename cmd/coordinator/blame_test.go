package main

import (
	"bytes"
	"strings"
	"testing"

	"covey/internal/coordinator"
	"covey/internal/round"
	"covey/internal/study"
)

// TestAccusationIsPrinted: `study show` and `study watch` say who accuses whom.
func TestAccusationIsPrinted(t *testing.T) {
	v := coordinator.View{Status: round.StatusEnded, Code: study.CodeBadShare, Accuser: "b", Accused: "a"}
	var b bytes.Buffer
	if err := printView(&b, v); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "bad_share b accuses a\n") {
		t.Errorf("show:\n%s", b.String())
	}
	if err := ended(v); err == nil || !strings.Contains(err.Error(), "bad_share (b accuses a)") {
		t.Errorf("watch: %v", err)
	}
}
