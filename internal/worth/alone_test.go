package worth

import (
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// TestNoiseAloneIsSaid: a covariance of noise alone has half the noise-to-signal of a power step,
// so that 0.53 must not read as a signal that is twice the noise.
func TestNoiseAloneIsSaid(t *testing.T) {
	for output, want := range map[string]string{
		proposal.OutputCovariance: "is 0.53 of what it measured, where noise alone has about 0.5 or more",
		proposal.OutputLast:       "is 0.53 of what it measured, where noise alone has about 1 or more",
	} {
		if got := released(&study.Plan{}, &result.Result{Output: output, NoiseToSignal: 0.53}); !strings.Contains(got, want) {
			t.Errorf("%s: %q", output, got)
		}
	}
}
