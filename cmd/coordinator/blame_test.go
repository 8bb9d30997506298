package main

import (
	"bytes"
	"strings"
	"testing"

	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/study"
)

// TestAccusationIsPrinted: `study show` and `study watch` say who accuses nobody by name.
func TestAccusationIsPrinted(t *testing.T) {
	v := outline.View{Status: round.StatusEnded, Code: study.CodeBadBox, Accuser: "b"}
	var b bytes.Buffer
	if err := printView(&b, v); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "bad_box b accuses nobody by name\n") {
		t.Errorf("show:\n%s", b.String())
	}
	if err := ended(v); err == nil || !strings.Contains(err.Error(), "bad_box (b accuses nobody by name)") {
		t.Errorf("watch: %v", err)
	}
}
