package doctor

import (
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/enroll"
)

// TestAttackPlain: what a coordinator says with a status is printable, quoted and short, wherever
// an error is worded.
func TestAttackPlain(t *testing.T) {
	words := "\x1b[2K\r\n\u202e\"); linked to hub.example " + strings.Repeat("x", 1000)
	err := status.Error(codes.Unavailable, words)
	for _, text := range []string{enroll.Plain(err), found(CheckNoAnswer, "a", "", err).Result, (&enroll.DialError{Addresses: []string{"a:1"}, Err: err}).Error(), (&enroll.JoinRefusedError{Reason: words}).Error()} {
		for _, r := range text {
			if !strconv.IsPrint(r) {
				t.Errorf("%q holds %q", text, r)
			}
		}
		if strings.Contains(text, `");`) || len(text) > 400 {
			t.Errorf("%q", text)
		}
	}
	if got := enroll.Plain(status.Error(codes.Unavailable, "the coordinator stops")); got != `Unavailable: "the coordinator stops"` {
		t.Error(got)
	}
}
