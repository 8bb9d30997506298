//go:build sklearn

package score

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"covey/internal/linalg"
	"covey/internal/siteconfig"
)

// transform fits a PCA by hand, projects scaled rows, and turns the components with scikit-learn's
// own varimax.
const transform = `import json, sys, numpy as np
from sklearn.decomposition import PCA
from sklearn.decomposition._factor_analysis import _ortho_rotation
m = json.load(open(sys.argv[1]))
pca = PCA(n_components=len(m["components"]))
pca.components_, pca.mean_ = np.array(m["components"]), np.array(m["mean"])
pca.explained_variance_ = np.array(m["variance"])
rows = np.loadtxt(sys.argv[2], delimiter=",", skiprows=1)
scores = pca.transform((rows - m["offset"]) / m["scale"])
axes = _ortho_rotation(pca.components_.T, method="varimax", tol=1e-13, max_iter=10000)
json.dump({"scores": scores.tolist(), "axes": axes.tolist()}, sys.stdout)`

// TestScikitLearnTransforms: scores are scikit-learn's to 1e-9, and varimax axes have cosines of 1
// to 1e-9 with its own, in whatever order and with whatever sign.
func TestScikitLearnTransforms(t *testing.T) {
	const d, k, n = 9, 3, 500
	r, p := sample(t, d, k, nil)
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	rows := make([][]string, n)
	for i := range rows {
		for j := range d {
			rows[i] = append(rows[i], strconv.FormatFloat(r.Offset[j]+5*rng.NormFloat64(), 'g', -1, 64))
		}
	}
	s := write(t, r.Columns, rows)
	model := filepath.Join(t.TempDir(), "model.json")
	text, err := json.Marshal(map[string]any{"components": r.Components, "mean": r.Mean, "variance": r.ExplainedVariance, "offset": r.Offset, "scale": r.Scale})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(model, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(cmp.Or(os.Getenv("PYTHON"), "python3"), "-c", transform, model, s.Path)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var theirs struct{ Scores, Axes [][]float64 }
	if err := json.Unmarshal(out, &theirs); err != nil {
		t.Fatal(err)
	}
	ours, _ := project(t, m, s, siteconfig.Dataset{}.Request(p.Proposal.Spec), Options{Format: CSV})
	lines, err := csv.NewReader(strings.NewReader(string(ours[bytes.IndexByte(ours, '\n')+1:]))).ReadAll()
	if err != nil || len(lines) != n+1 || len(theirs.Scores) != n {
		t.Fatalf("%d lines, %d rows, %v", len(lines), len(theirs.Scores), err)
	}
	for i, row := range theirs.Scores {
		for l, want := range row {
			if got := number(t, lines[i+1][1+l]); math.Abs(got-want) > 1e-9 {
				t.Fatalf("row %d, score %d: %v, scikit-learn has %v", i+1, l+1, got, want)
			}
		}
	}
	for l, axis := range m.Rotate().Axes {
		best := 0.0
		for _, other := range theirs.Axes { // sklearn returns axes as rows
			best = max(best, math.Abs(linalg.Dot(axis, other)))
		}
		if best < 1-1e-9 {
			t.Errorf("axis %d is none of scikit-learn's: the nearest has cosine %v", l+1, best)
		}
	}
}
