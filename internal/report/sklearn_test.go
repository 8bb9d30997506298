//go:build sklearn

package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// python runs Python with NumPy and scikit-learn: $PYTHON, or python3.
func python(t *testing.T, args ...string) []byte {
	t.Helper()
	return run(t, cmp.Or(os.Getenv("PYTHON"), "python3"), args...)
}

func run(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	c := exec.Command(program, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || stderr.Len() > 0 { // a warning of scikit-learn's would be a user's, too
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return out
}

// TestScikitLearn runs the examples of docs/results.md: NumPy opens the archive without pickle, and
// scikit-learn projects raw rows as the definition does; R does so with the table.
func TestScikitLearn(t *testing.T) {
	for name, change := range map[string]func(*result.Result){
		"all": func(*result.Result) {},
		"not bought": func(r *result.Result) {
			r.ExplainedVariance, r.VarianceInterval, r.VarianceRatio, r.TotalInterval = nil, nil, nil, nil
		},
		"one": func(r *result.Result) { *r = *sample(1, 1, 1, proposal.SubspaceBlock, 0.01) },
	} {
		t.Run(name, func(t *testing.T) {
			r := sample(7, 3, 6, proposal.SubspaceBlock, 0.01)
			change(r)
			r.Columns[0] = "größe, \"cm\""
			archive, exported := filepath.Join(t.TempDir(), "result.npz"), filepath.Join(t.TempDir(), "result.csv")
			for path, write := range map[string]func(io.Writer) error{
				archive:  func(w io.Writer) error { return WriteNPZ(w, r) },
				exported: func(w io.Writer) error { return WriteCSV(w, r) },
			} {
				f, err := os.Create(path)
				if err == nil {
					err = write(f)
				}
				if err == nil {
					err = f.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			// The columns of the file are in another order, with one more.
			random := rand.New(rand.NewPCG(1, 2))
			var text bytes.Buffer
			table := csv.NewWriter(&text)
			header := []string{"other"}
			for j := range r.D {
				header = append(header, r.Columns[r.D-1-j])
			}
			table.Write(header)
			var want [][]float64
			for range 20 {
				line, scores := []string{"x"}, make([]float64, r.K)
				for j := range r.D {
					j = r.D - 1 - j
					v := 3 * random.NormFloat64()
					line = append(line, strconv.FormatFloat(v, 'g', -1, 64))
					for i := range scores {
						scores[i] += ((v-r.Offset[j])/r.Scale[j] - r.Mean[j]) * r.Components[i][j]
					}
				}
				table.Write(line)
				want = append(want, scores)
			}
			table.Flush()
			rows := filepath.Join(t.TempDir(), "rows.csv")
			if err := os.WriteFile(rows, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			in := map[string][]byte{"Python": python(t, "../../examples/sklearn_pca.py", archive, rows)}
			_, in["R"], _ = bytes.Cut(run(t, "Rscript", "--vanilla", "../../examples/scores.R", exported, rows), []byte("\n")) // less the header
			for language, out := range in {
				got, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
				if err != nil || len(got) != len(want) {
					t.Fatalf("%s: %d rows, %v", language, len(got), err)
				}
				for i, line := range got {
					if len(line) != r.K {
						t.Fatalf("%s: row %d has %d scores, want %d", language, i, len(line), r.K)
					}
					for c, text := range line {
						if v, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(v-want[i][c]) > 1e-12*(1+math.Abs(want[i][c])) {
							t.Errorf("%s: row %d, component %d: %s, want %v", language, i, c+1, text, want[i][c])
						}
					}
				}
			}
			// Each array as NumPy sees it.
			seen := string(python(t, "-c", `import sys, numpy
a = numpy.load(sys.argv[1], allow_pickle=False)
for n in a.files: print(n, a[n].dtype.kind, *a[n].shape)
print("columns", ascii(list(a["feature_names_in_"])), a["digest"][0], a["epsilon"].item())`, archive))
			lines := []string{fmt.Sprintf("components_ f %d %d", r.K, r.D), fmt.Sprintf("mean_ f %d", r.D), fmt.Sprintf("feature_names_in_ U %d", r.D),
				"n_samples_ i", "epsilon f", "name U 1", fmt.Sprintf("outputs_last f %d %d", r.K, r.D), `columns ['gr\xf6\xdfe, "cm"'`, strings.Repeat("0", 64) + " 1.0"}
			if r.ExplainedVariance != nil {
				lines = append(lines, fmt.Sprintf("explained_variance_interval_ f %d 2", r.K), "noise_variance_ f", "total_variance_interval_ f 2")
			}
			for _, line := range lines {
				if !strings.Contains(seen, line) {
					t.Errorf("NumPy does not see %q:\n%s", line, seen)
				}
			}
		})
	}
}

// TestScikitLearnPacked: the functions of docs/result-file.md read the packed numbers of a result
// file.
func TestScikitLearnPacked(t *testing.T) {
	page, err := os.ReadFile("../../docs/result-file.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```python\n(import base64.*?)```").FindSubmatch(page)
	if code == nil {
		t.Fatal("docs/result-file.md has no functions")
	}
	rng := rand.New(rand.NewPCG(8, 9))
	var releases []study.Release
	var want strings.Builder
	for shift := range 64 {
		r := study.Release{}
		for i := range 1 + rng.IntN(40) {
			r.X, r.Noised = append(r.X, rng.NormFloat64()), append(r.Noised, int64(rng.Uint64())>>shift)
			if i%16 == 3 {
				r.Noised[i] = int64(rng.Uint64()) // in more bytes than others
			}
		}
		releases = append(releases, r)
		for i := range r.X {
			fmt.Fprintf(&want, "%d %s\n", r.Noised[i], strconv.FormatFloat(r.X[i], 'x', -1, 64))
		}
	}
	text, err := json.Marshal(releases)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "releases.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	got := python(t, "-c", string(code[1])+`
import json, sys
for release in json.load(open(sys.argv[1])):
    for n, x in zip(ints(release["noised"]), floats(release["x"])):
        print(n, float(x).hex())
`, file)
	same := strings.Fields(want.String())
	for i, field := range strings.Fields(string(got)) {
		if i >= len(same) {
			t.Fatal("Python prints more")
		}
		a, errA := strconv.ParseFloat(field, 64)
		b, errB := strconv.ParseFloat(same[i], 64)
		if field != same[i] && (i%2 == 0 || a != b || errA != nil || errB != nil) {
			t.Fatalf("number %d is %s, Python reads %s", i/2, same[i], field)
		}
	}
	if n := len(strings.Fields(string(got))); n != len(same) {
		t.Errorf("Python reads %d numbers, want %d", n, len(same))
	}
}
