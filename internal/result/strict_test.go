package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/runs"
	"covey/test/texts"
)

// TestVerifyIsStrict: no text that another reader could take otherwise.
func TestVerifyIsStrict(t *testing.T) {
	good := string(golden(t))
	for name, c := range map[string]struct{ old, now, what string }{
		"unknown":          {`"name":`, `"comment": "", "name":`, "comment"},
		"unknown, deep":    {`"study":`, `"comment": "", "study":`, "releases.0.comment"},
		"a path as a key":  {`"name":`, `"releases.0.slot": 9, "name":`, `"releases.0.slot"`},
		"twice":            {`"epsilon":`, `"epsilon": 0.1, "epsilon":`, "epsilon"},
		"twice, deep":      {`"slot":`, `"slot": 9, "slot":`, "releases.0.slot"},
		"twice in a map":   {`"last":`, `"last": [""], "last":`, "outputs.last"},
		"another case":     {`"epsilon":`, `"Epsilon":`, "Epsilon"},
		"twice, by case":   {`"epsilon":`, `"EPSILON": 0.1, "epsilon":`, "EPSILON"},
		"absent":           {`"query":0,`, ``, "releases.0.query"},
		"null":             {`"query":0,`, `"query":null,`, "releases.0.query null"},
		"type":             {`"epsilon": 1`, `"epsilon": "1"`, "epsilon"},
		"digest":           {`"chain": "`, `"chain": "x`, "chain"},
		"base64":           {`"proposal": "`, `"proposal": "-`, "proposal"},
		"base64, deep":     {`"signatures": ["`, `"signatures": ["\n`, "signatures"},
		"in another case":  {`"chain": "`, `"Chain": "x`, "Chain"},
		"packed":           {`"noised":"i`, `"noised":"j`, "releases.0"},
		"packed, deep":     {`"last":["f8`, `"last":["f4`, "outputs"},
		"empty, unneeded":  {`"name":`, `"unit": "", "name":`, "unit"},
		"no list":          {`"releases": [`, `"releases": {}, "x": [`, "releases"},
		"no list but null": {`"releases": [`, `"releases": null, "x": [`, "releases"},
		"many":             {`"releases": [`, `"releases": [` + strings.Repeat("1,", 1<<20), "releases.0"},
		"trailing":         {good, good + "{}", WhatJSON},
		"cut":              {good, good[:len(good)-3], WhatJSON},
		"empty":            {good, "", WhatJSON},
		"array":            {good, "[]", WhatJSON},
		"string":           {good, `"result"`, WhatJSON},
		"an empty object":  {good, "{}", "name"},
		"deep":             {good, strings.Repeat("[", 1<<20), WhatJSON},
		"deep in the file": {`"name":`, `"x": ` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `, "name":`, "x"},
	} {
		if !strings.Contains(good, c.old) {
			t.Errorf("%s: the file has no %q", name, c.old)
		}
		t.Run(name, func(t *testing.T) {
			refuses(t, []byte(strings.Replace(good, c.old, c.now, 1)), c.what, -1)
		})
	}
	if v, err := Verify([]byte("null")); err == nil {
		t.Error(v)
	}
}

// TestVerifyKnowsLengths: encoding/json reads lists of two numbers, drops what more a text has, and
// takes one that is absent as 0.
func TestVerifyKnowsLengths(t *testing.T) {
	_, body, releases := runs.Run(t, texts.With(texts.Pictured, `missing = "fill"`), false)
	good := string(file(t, signResult(t, body, signReleases(t, releases))))
	for key, path := range map[string]string{
		"pictures_": "pictures_.0.pair", "total_variance_interval_": "total_variance_interval_",
		"explained_variance_interval_": "explained_variance_interval_.0", "filled_interval_": "filled_interval_.0",
	} {
		at := strings.Index(good, `"`+key+`"`)
		end := at + strings.Index(good[at:], "]")
		cut := at + strings.LastIndex(good[at:end], ",")
		for text, values := range map[string]int{good[:end] + ",7" + good[end:]: 3, good[:end] + `,7,"about 2"` + good[end:]: 4, good[:cut] + good[end:]: 1} {
			refuses(t, []byte(text), fmt.Sprintf("%s with %d values", path, values), -1)
		}
	}
}

// TestReleasesAreBounded: a file's releases are gone past one by one before anything is known of
// them; there are no more than the slots of a study.
func TestReleasesAreBounded(t *testing.T) {
	for _, n := range []int{0, 1, proposal.MaxSlots, proposal.MaxSlots + 1, 2 * proposal.MaxSlots} {
		read := 0
		err := eachRelease(json.NewDecoder(strings.NewReader("["+strings.TrimSuffix(strings.Repeat("{},", n), ",")+"]")), func(d *json.Decoder, i int) error {
			read++
			return skipRelease(d, i)
		})
		if bad, ok := errors.AsType[*VerifyError](err); read != min(n, proposal.MaxSlots) || ok != (n > proposal.MaxSlots) || ok && bad.What != keyReleases || !ok && err != nil {
			t.Errorf("%d releases, of which %d were read: %v", n, read, err)
		}
	}
}

// TestBlobHasOneForm: a base64 digit has bits that stand for nothing; they are zero.
func TestBlobHasOneForm(t *testing.T) {
	var b Blob
	if err := b.UnmarshalText([]byte("AQI=")); err != nil || !bytes.Equal(b, []byte{1, 2}) {
		t.Fatal(b, err)
	}
	for _, text := range []string{"AQJ=", "AQI", "AQI=\n", "A\nQI=", "AQI=AQI=", "-_8=", "AQI =", "="} {
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, b)
		}
	}
}
