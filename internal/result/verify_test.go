package result

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/texts"
)

var update = flag.Bool("update", false, "write testdata/result.json anew")

func TestVerify(t *testing.T) {
	for name, text := range map[string]string{"private": private, "public": public} {
		p, body, signed := course(t, text, nil)
		r := signResult(t, body, signed)
		v, err := Verify(file(t, r))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fewest := 5
		if name == "public" {
			fewest = 4
		}
		if v.Name != "weights" || v.Digest != p.Digest || !bytes.Equal(v.Coordinator, texts.Signer.Public().(ed25519.PublicKey)) ||
			v.Sites != 5 || v.FewestSurvivors != fewest || v.N != 15000 || v.D != 2 || v.Rounds != p.Rounds || v.Queries != len(p.Queries) ||
			v.Epsilon != 1 || v.Delta != 1e-6 || !study.Near(v.Rho, p.Rho) || v.Chain != r.Chain || len(v.Roster) != 5 {
			t.Errorf("%s: %+v", name, v)
		}
		// Through the text of another tool: layout and the way a number is written are free.
		other := bytes.Replace(file(t, r), []byte(`"delta": 0.000001`), []byte(`"delta":1.0e-6 `), 1)
		if bytes.Equal(other, file(t, r)) {
			t.Fatal("the file has changed its form")
		}
		if _, err := Verify(other); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVerifyGolden: a result that was written once verifies ever after. With
// -update it is written anew, which breaks every result out there.
func TestVerifyGolden(t *testing.T) {
	const path = "testdata/result.json"
	if *update {
		_, body, signed := course(t, public, nil)
		if err := os.WriteFile(path, append(file(t, signResult(t, body, signed)), '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Verify(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	if v.Chain.String() != "8f1d7fc98fbbd40aabf1283045fe80da3809a709df8a737889a0414a44e085d6" {
		t.Errorf("chain %v", v.Chain)
	}
}

func golden(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/result.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestVerifyRefusesReleases: releases that a coordinator signed and should not
// have. Query 3 of the private study is the power step of round 1, query 4 the
// histogram of round 2.
func TestVerifyRefusesReleases(t *testing.T) {
	count := 0
	cases := []struct {
		name, text, what string
		query            int
		change           func(p *study.Plan, r *study.Release)
	}{
		{"a slot twice", private, "slot", 3, func(_ *study.Plan, r *study.Release) { r.Slot = 3 }},
		{"an earlier slot", private, "slot", 3, func(_ *study.Plan, r *study.Release) { r.Slot = 0 }},
		{"another study", private, "study", 3, func(_ *study.Plan, r *study.Release) { r.Study[0]++ }},
		{"units", private, "units", 3, func(_ *study.Plan, r *study.Release) { r.Units++ }},
		{"less noise", private, "sigma", 3, func(_ *study.Plan, r *study.Release) { r.Sigma /= 2 }},
		{"too few", public, "survivors", 3, func(_ *study.Plan, r *study.Release) { r.Survivors, r.Units = []int{0, 1, 2}, 6000 }},
		{"not the first", private, "survivors", 3, func(_ *study.Plan, r *study.Release) { r.Survivors, r.Units = []int{0, 1, 2, 3}, 10000 }},
		{"a chosen x", private, "x", 3, func(_ *study.Plan, r *study.Release) { r.X = []float64{r.X[1], -r.X[0]} }},
		{"a chosen x of a histogram", private, "x", 4, func(_ *study.Plan, r *study.Release) { r.X = []float64{r.X[1], -r.X[0]} }},
		{"a chosen start", private, "x", 0, func(_ *study.Plan, r *study.Release) { r.X = []float64{0, 1} }},
		{"a chosen radius", private, "radius", 3, func(p *study.Plan, r *study.Release) {
			wide := p.Start()
			wide.Query, wide.Radii[study.KindPower] = 3, 2*r.Radius
			a, err := p.NewAsk(wide, r.Slot)
			if err != nil {
				t.Fatal(err)
			}
			r.Radius, r.Grid, r.Sigma = a.Radius, a.Grid, a.Sigma
		}},
		{"a charge", private, "rho", 3, func(_ *study.Plan, r *study.Release) { r.Rho *= 0.999 }},
		{"a larger charge", private, "rho", 3, func(_ *study.Plan, r *study.Release) { r.Rho *= 1.001 }},
		{"no charge", private, "rho", 3, func(_ *study.Plan, r *study.Release) { r.Rho = 0 }},
	}
	for _, c := range cases {
		count++
		t.Run(c.name, func(t *testing.T) {
			_, body, signed := course(t, c.text, func(p *study.Plan, r *study.Release) {
				if r.Query == c.query {
					c.change(p, r)
				}
			})
			refuses(t, file(t, signResult(t, body, signed)), c.what, c.query)
		})
	}
	t.Logf("figure: %d bad inputs: fields of a release", count)
}

// TestVerifyRefusesSigned: the list of signed releases is changed and the
// coordinator's last signature is over the change.
func TestVerifyRefusesSigned(t *testing.T) {
	count := 0
	_, body, signed := course(t, public, nil)
	cases := []struct {
		name, what string
		query      int
		change     func(r *Result)
	}{
		{"one fewer", "releases", -1, func(r *Result) { r.Releases, r.Signatures = r.Releases[:3], r.Signatures[:3] }},
		{"one more", "releases", -1, func(r *Result) {
			r.Releases, r.Signatures = append(slices.Clone(r.Releases), r.Releases[3]), append(slices.Clone(r.Signatures), r.Signatures[3])
		}},
		{"a signature fewer", "signatures", -1, func(r *Result) { r.Signatures = r.Signatures[:3] }},
		{"a release fewer", "signatures", -1, func(r *Result) { r.Releases = r.Releases[:3] }},
		{"another release", "signatures", 2, func(r *Result) { r.Releases = slices.Clone(r.Releases); r.Releases[2].Noised = []int64{1, 2} }},
		{"two exchanged", "query", 1, func(r *Result) {
			r.Signatures, r.Releases = slices.Clone(r.Signatures), slices.Clone(r.Releases)
			r.Signatures[1], r.Signatures[2] = r.Signatures[2], r.Signatures[1]
			r.Releases[1], r.Releases[2] = r.Releases[2], r.Releases[1]
		}},
		{"another place", "query", 1, func(r *Result) {
			r.Signatures, r.Releases = slices.Clone(r.Signatures), slices.Clone(r.Releases)
			r.Releases[1].Query = 2
			r.Signatures[1] = signRelease(t, r.Releases[1]).Signature
		}},
		{"a signature", "signatures", 1, func(r *Result) {
			r.Signatures = slices.Clone(r.Signatures)
			r.Signatures[1] = ed25519.Sign(stranger, study.SigningInput(encoded(t, r.Releases[1])))
		}},
		{"a signature of the bytes alone", "signatures", 1, func(r *Result) {
			r.Signatures = slices.Clone(r.Signatures)
			r.Signatures[1] = ed25519.Sign(texts.Signer, encoded(t, r.Releases[1]))
		}},
		{"another encoding", "signatures", 1, func(r *Result) {
			r.Signatures = slices.Clone(r.Signatures)
			r.Signatures[1] = signBytes(bytes.Replace(encoded(t, r.Releases[1]), []byte(`"slot":`), []byte(`"slot":0,"slot":`), 1)).Signature
		}},
	}
	for _, c := range cases {
		count++
		t.Run(c.name, func(t *testing.T) {
			r := signResult(t, body, signed)
			c.change(r)
			r.Chain = chainOf(r.Digest, sealedOf(t, r))
			reseal(t, r)
			refuses(t, file(t, r), c.what, c.query)
		})
	}
	t.Logf("figure: %d bad inputs: signed releases", count)
}

// TestSignRefusesOtherForms: a result holds releases in their one encoding; one with any other
// encoding is not signed.
func TestSignRefusesOtherForms(t *testing.T) {
	p, body, signed := course(t, public, nil)
	e := evidenceOf(t, p, signed)
	signed[1] = signBytes(append(signed[1].Encoded, ' '))
	if _, err := Sign(p, body, signed, e, texts.Signer); err == nil || !strings.Contains(err.Error(), "query 1: releases") {
		t.Errorf("a release behind which a space stands: %v", err)
	}
}

// TestVerifyRefusesResults: everything beside the releases, signed anew.
func TestVerifyRefusesResults(t *testing.T) {
	count := 0
	_, body, signed := course(t, public, nil)
	cases := map[string]struct {
		what   string
		change func(r *Result)
	}{
		"digest":             {"digest", func(r *Result) { r.Digest[0]++ }},
		"proposal":           {"digest", func(r *Result) { r.Proposal = bytes.Replace(body, []byte("2000"), []byte("2001"), 1) }},
		"no plan":            {"proposal", func(r *Result) { r.Proposal = []byte("name = 1"); r.Digest = proposal.DigestOf(r.Proposal) }},
		"chain":              {"chain", func(r *Result) { r.Chain[31]++ }},
		"chain_head":         {"chain_head", func(r *Result) { r.ChainHead = chain.Head{} }},
		"name":               {"name", func(r *Result) { r.Name = "heights" }},
		"epsilon":            {"epsilon", func(r *Result) { r.Epsilon = math.Nextafter(1, 0) }},
		"delta":              {"delta", func(r *Result) { r.Delta /= 2 }},
		"rho":                {"rho", func(r *Result) { r.Rho *= 1 - 1e-9 }},
		"profile":            {"profile", func(r *Result) { r.Profile = proposal.ProfilePaper }},
		"columns":            {"feature_names_in_", func(r *Result) { slices.Reverse(r.Columns) }},
		"offset":             {"offset_", func(r *Result) { r.Offset[0] = 0 }},
		"scale":              {"scale_", func(r *Result) { r.Scale[0] = 1 }},
		"sites":              {"sites", func(r *Result) { r.Sites = r.Sites[1:] }},
		"n":                  {"n_samples_", func(r *Result) { r.N++ }},
		"d":                  {"n_features_in_", func(r *Result) { r.D++ }},
		"rounds":             {"rounds", func(r *Result) { r.Rounds++ }},
		"radius":             {"radius", func(r *Result) { r.Radius *= 2 }},
		"output":             {"output", func(r *Result) { r.Output = proposal.OutputRandom }},
		"asked":              {"output_asked", func(r *Result) { r.OutputAs = proposal.OutputLast }},
		"component":          {"components_", func(r *Result) { r.Components = [][]float64{{0, 1}} }},
		"components":         {"components_", func(r *Result) { r.Components = append(r.Components, []float64{0, 1}) }},
		"mean":               {"mean_", func(r *Result) { r.Mean[1] = 1e-8 }},
		"center":             {"center", func(r *Result) { r.Center = proposal.CenterPrivate }},
		"noise":              {"noise", func(r *Result) { r.Noise = proposal.NoiseDistributed }},
		"method":             {"method", func(r *Result) { r.Method = proposal.MethodCovariance }},
		"why":                {"method_why", func(r *Result) { r.MethodWhy = "it is better" }},
		"k":                  {"n_components_", func(r *Result) { r.K++ }},
		"total":              {"total_variance_", func(r *Result) { r.TotalVariance = 1 }},
		"random":             {"outputs", func(r *Result) { r.Outputs[proposal.OutputRandom][0][0] += 1e-8 }},
		"last":               {"outputs", func(r *Result) { r.Outputs[proposal.OutputLast][0][1] += 1e-8 }},
		"pooled":             {"outputs", func(r *Result) { r.Outputs[proposal.OutputPooled][0][1] -= 1e-8 }},
		"short":              {"outputs", func(r *Result) { r.Outputs[proposal.OutputPooled][0] = r.Outputs[proposal.OutputPooled][0][:1] }},
		"one output more":    {"outputs", func(r *Result) { r.Outputs["best"] = [][]float64{{0, 1}} }},
		"one output fewer":   {"outputs", func(r *Result) { delete(r.Outputs, proposal.OutputRandom) }},
		"explained variance": {"explained_variance_", func(r *Result) { r.ExplainedVariance = []float64{2} }},
		"noise to signal":    {"noise_to_signal", func(r *Result) { r.NoiseToSignal *= 1 + 1e-8 }},
	}
	for name, c := range cases {
		count++
		t.Run(name, func(t *testing.T) {
			r := signResult(t, body, signed)
			c.change(r)
			reseal(t, r)
			refuses(t, file(t, r), c.what, -1)
		})
	}
	t.Logf("figure: %d bad inputs: fields of a result", count)
}

// TestVerifyOtherVersion: a result that all signed as it is may be another version's, and says so;
// one that somebody changed later says no such thing.
func TestVerifyOtherVersion(t *testing.T) {
	_, body, signed := course(t, public, nil)
	for name, c := range map[string]struct {
		change func(r *Result)
		hint   bool
	}{
		"all signed it":           {func(r *Result) { r.MethodWhy = "other words"; reseal(t, r) }, true},
		"changed later":           {func(r *Result) { r.MethodWhy = "other words" }, false},
		"no site signed it":       {func(r *Result) { r.MethodWhy = "other words"; reseal(t, r); r.SiteSignatures = nil }, false},
		"another coordinator":     {func(r *Result) { r.MethodWhy = "other words"; reseal(t, r); r.Signature[5] ^= 1 }, false},
		"sites confirmed nothing": {func(r *Result) { r.MethodWhy = "other words"; r.Confirmations[0][0] ^= 1; reseal(t, r) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := signResult(t, body, signed)
			c.change(r)
			_, err := Verify(file(t, r))
			bad, ok := errors.AsType[*VerifyError](err)
			if !ok || bad.What != "method_why" || strings.Contains(bad.Reason, "version that made it") != c.hint {
				t.Errorf("%v; wanted the hint: %v", err, c.hint)
			}
		})
	}
}

// TestVerifySignature: what the recomputing lets pass or cannot see.
func TestVerifySignature(t *testing.T) {
	count := 0
	p, body, signed := course(t, public, nil)
	for name, change := range map[string]func(r *Result){
		"a bit of an output": func(r *Result) {
			x := r.Outputs[proposal.OutputLast][0]
			x[0] = math.Nextafter(x[0], 2)
			r.Components[0] = r.Outputs[r.Output][0]
		},
		"a bit of the noise": func(r *Result) { r.NoiseToSignal = math.Nextafter(r.NoiseToSignal, 1) },
		"a bit of it":        func(r *Result) { r.Signature[5] ^= 1 },
		"none":               func(r *Result) { r.Signature = nil },
		"another's": func(r *Result) {
			input, err := r.signingInput()
			if err != nil {
				t.Fatal(err)
			}
			r.Signature = ed25519.Sign(stranger, input)
		},
		"a release's": func(r *Result) { r.Signature = slices.Clone(r.Signatures[0]) },
	} {
		count++
		t.Run(name, func(t *testing.T) {
			r := signResult(t, body, signed)
			change(r)
			refuses(t, file(t, r), "signature", -1)
		})
	}
	if _, err := Sign(p, body, signed, Evidence{}, stranger); err == nil {
		t.Error("a key that is not the proposal's signed")
	}
	if _, err := Sign(p, append(body[:len(body):len(body)], '\n'), signed, evidenceOf(t, p, signed), texts.Signer); err == nil {
		t.Error("a result holds another proposal than its plan's")
	}
	t.Logf("figure: %d bad inputs: signatures of a result", count)
}

// TestVerifyOtherProcessor: last digits that differ because the coordinator's
// processor rounds otherwise do not refuse a result that it signed.
func TestVerifyOtherProcessor(t *testing.T) {
	_, body, signed := course(t, private, func(_ *study.Plan, r *study.Release) {
		r.X = slices.Clone(r.X)
		r.X[0] += 1e-15
		r.Rho *= 1 + 1e-14
	})
	r := signResult(t, body, signed)
	r.NoiseToSignal *= 1 + 1e-14
	for _, x := range r.Outputs {
		x[0][1] -= 1e-14
	}
	reseal(t, r)
	if _, err := Verify(file(t, r)); err != nil {
		t.Fatal(err)
	}
}

// (ε, δ) says nothing without what it is promised to and by whom: whoever verifies a file is told.
func TestVerifiedSaysWhose(t *testing.T) {
	for _, c := range []struct{ keys, unit, noise string }{
		{"", "one row: ", "central: "},
		{"unit = \"who\"\nnoise = \"distributed\"\n", `all rows with one value of "who" at one site: `, "distributed: "},
	} {
		p, body, signed := course(t, strings.Replace(private, "spare_slots", c.keys+"spare_slots", 1), nil)
		r := made(t, p, body, signed)
		v, err := Verify(file(t, r))
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]string{}
		for _, row := range v.Rows() {
			said[row[0]] = row[1]
		}
		if v.Unit != p.Proposal.Spec.Unit || v.Noise != p.Proposal.Spec.Noise || !strings.HasPrefix(said["unit"], c.unit) || !strings.HasPrefix(said["noise"], c.noise) {
			t.Errorf("%+v: %q", v, said)
		}
	}
}

// TestEveryByte changes every byte of a file (every eleventh in short runs): it never verifies,
// unless the change concerns only layout or how the same value is written.
func TestEveryByte(t *testing.T) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, golden(t)); err != nil {
		t.Fatal(err)
	}
	good := compact.Bytes()
	want := content(t, good)
	verified := 0
	step := 1
	if testing.Short() {
		step = 11
	}
	for i := 0; i < len(good); i += step {
		text := slices.Clone(good)
		text[i] ^= 1
		v, err := Verify(text)
		readAlike(t, text, v, err)
		if err == nil {
			verified++
			if got := content(t, text); got != want {
				t.Errorf("byte %d: another result verifies", i)
			}
		}
	}
	// 1e-6 and 2e-6 are other numbers: hardly anything can be said in two ways.
	if verified > 10 {
		t.Errorf("%d changes make no difference", verified)
	}
}

// content is what a file says, in one form.
func content(t testing.TB, text []byte) string {
	t.Helper()
	r, err := parse(bytes.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(canonical)
}

// readAlike wants Read to find of text what Verify found.
func readAlike(t *testing.T, text []byte, v *Verified, err error) {
	t.Helper()
	_, whole, fault := Read(bytes.NewReader(text))
	if !reflect.DeepEqual(err, fault) || !reflect.DeepEqual(v, whole) {
		t.Errorf("Verify gave %+v, %v, Read %+v, %v", v, err, whole, fault)
	}
}

// FuzzVerify puts text in the place of a part of a good file, or of all of it:
// nothing panics, and nothing verifies that does not say what the good file says. (A
// fuzzer that could sign would find other results.)
func FuzzVerify(f *testing.F) {
	good := golden(f)
	at := func(part string) uint { return uint(bytes.Index(good, []byte(part))) }
	f.Add(uint(0), uint(0), []byte(" "))
	f.Add(uint(0), uint(len(good)), []byte("{}"))
	f.Add(uint(0), uint(len(good)), []byte("null"))
	f.Add(at(`"name"`), uint(0), []byte(`"nAme":"heights",`))
	f.Add(at(`"releases"`), uint(0), []byte(`"releases":[],`))
	f.Add(at(`"releases"`), uint(10), []byte(`"\u0072eleases"`))
	f.Add(at(`"releases"`)+13, uint(0), []byte(`null,`))
	f.Add(at(`"releases"`)+13, uint(0), []byte(`{},`))
	f.Add(at(`0.000001`), uint(8), []byte(`1e-6`))
	f.Add(at(`"outputs"`), uint(9), []byte(`"\u006futputs"`))
	f.Add(at(`"signature"`)+20, uint(3), []byte("AAA"))
	want := content(f, good)
	f.Fuzz(func(t *testing.T, at, removed uint, put []byte) {
		at = min(at, uint(len(good)))
		removed = min(removed, uint(len(good))-at)
		text := slices.Concat(good[:at], put, good[at+removed:])
		v, err := Verify(text)
		readAlike(t, text, v, err)
		if err != nil {
			if _, ok := errors.AsType[*VerifyError](err); !ok || v != nil {
				t.Fatalf("%v, %v", v, err)
			}
			return
		}
		if content(t, text) != want {
			t.Fatalf("another result verifies: %s", v.Rows())
		}
	})
}
