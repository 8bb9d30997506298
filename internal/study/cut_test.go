package study

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestAutoAsksTheSame: R32. What a study of components = "auto" asks, charges and reserves is what
// one of components_max asks, whatever it finds: nothing of a plan can follow from the number.
func TestAutoAsksTheSame(t *testing.T) {
	for _, lines := range [][]string{
		{`method = "covariance"`}, {`method = "power"`}, {`method = "auto"`}, {`method = "power"`, `noise = "distributed"`, `center = "private"`},
		{`method = "auto"`, `unit = "patient"`, `missing = "drop-row"`},
	} {
		found := mustPlan(t, texts.With(texts.Four, append(lines, `components = "auto"`, "components_max = 3")...), 90_000, 90_000, 90_000)
		asked := mustPlan(t, texts.With(texts.Four, append(lines, "components = 3")...), 90_000, 90_000, 90_000)
		if !reflect.DeepEqual(found.Queries, asked.Queries) || found.Rho != asked.Rho || found.Slots != asked.Slots || found.Bits != asked.Bits || found.K != 3 {
			t.Errorf("%v: another plan than that of 3 components", lines)
		}
	}
	if p := mustPlan(t, texts.With(texts.Four, `components = "auto"`), 90_000, 90_000, 90_000); p.K != 4 || p.Proposal.Spec.ComponentsMax != 10 {
		t.Errorf("%d components of 4 columns, components_max = %d", p.K, p.Proposal.Spec.ComponentsMax)
	}
}

// TestAutoWithLevels: the texts of a column with two levels are never "other", so that this
// coordinate is always left out. A plan for as many components as coordinates would always end.
func TestAutoWithLevels(t *testing.T) {
	sex := "[[columns]]\nname = \"sex\"\nlevels = [\"F\", \"M\"]\n"
	auto := []string{`components = "auto"`, `method = "covariance"`}
	p := mustPlan(t, texts.With(texts.Four, append(auto, "components_max = 7")...)+sex, 90_000, 90_000, 90_000)
	if p.K != 5 || p.D != 7 {
		t.Errorf("%d components of 5 columns, %d numbers a row", p.K, p.D)
	}
	// Where releases decide which columns take part, half may be left out before a study ends.
	if p = mustPlan(t, texts.With(texts.Four, auto...)+sex, 90_000, 90_000, 90_000); p.K != 2 || p.Proposal.Spec.ComponentsMax != 2 {
		t.Errorf("%d components of 5 columns, of which a release may leave some out", p.K)
	}
}

func TestAutoRefuses(t *testing.T) {
	for key, lines := range map[string][]string{
		"components":         {`components = "some"`},
		"components_max":     {`components = 2`, "components_max = 3"},
		"explained_variance": {`components = "auto"`, `method = "power"`, `explained_variance = "none"`},
	} {
		_, err := proposal.ParseSpec([]byte(texts.With(texts.Four, lines...)))
		if bad, ok := errors.AsType[*proposal.FieldError](err); !ok || bad.Field != key {
			t.Errorf("%v: %v", lines, err)
		}
	}
	for _, lines := range [][]string{
		{`components = "auto"`, `subspace = "deflation"`}, {`components = "auto"`, "components_max = 101"}, {`components = "auto"`, "components_max = 0"},
		{`components = "auto"`, `accountant = "paper"`, "lambda = 1.0", `radius = "paper"`},
	} {
		if _, err := proposal.ParseSpec([]byte(texts.With(texts.Four, lines...))); err == nil {
			t.Errorf("%v is taken", lines)
		}
	}
}

// TestAutoRoundTrips: a proposal has "auto" and components_max, and means the same when it is read.
func TestAutoRoundTrips(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `components = "auto"`, "components_max = 2"), 90_000, 90_000, 90_000)
	text, err := p.Proposal.Spec.Encode()
	if err != nil || !strings.Contains(string(text), `components = "auto"`) || !strings.Contains(string(text), "components_max = 2") {
		t.Errorf("%s: %v", text, err)
	}
	if text, err := (proposal.Spec{Components: 3}).Encode(); err != nil || !strings.Contains(string(text), "components = 3\n") {
		t.Errorf("%s: %v", text, err)
	}
}
