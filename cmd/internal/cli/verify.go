package cli

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"

	"covey/internal/pki"
	"covey/internal/study"
)

// Verify checks a result file offline.
type Verify struct {
	File string `arg:"" help:"A result, as \"study result --json\" prints it."`
	Key  string `placeholder:"FINGERPRINT" help:"The coordinator key that must have signed it, as somebody you trust read it to you."`
	JSON bool   `help:"Print JSON."`
}

// verdict is verify's --json: of a result that holds what it says, of another what
// does not hold.
type verdict struct {
	Holds bool `json:"verified"`
	*study.Verified
	Key         string `json:"key,omitempty"` // fingerprint of the coordinator's
	KeyCompared bool   `json:"key_compared"`  // with --key

	What   string `json:"what,omitempty"`
	Query  *int   `json:"query,omitempty"`
	Reason string `json:"reason,omitempty"`
}

var fingerprintForm = regexp.MustCompile(`^([a-z2-7]{4}-){5}[a-z2-7]{4}$`)

// Check prints to stdout what a result that holds is, or with --json what does not hold. An *[InputError] is for
// what is no result at all.
func (c *Verify) Check(stdout, stderr io.Writer) error {
	want := strings.ToLower(c.Key)
	if want != "" && !fingerprintForm.MatchString(want) {
		return Bad("--key must be a fingerprint, six groups of four letters and digits, got %q", c.Key)
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return &InputError{err}
	}
	v, err := study.Verify(text)
	if err != nil {
		return c.Refuse(stdout, err)
	}
	key := pki.Fingerprint(ed25519.PublicKey(v.Coordinator))
	switch want {
	case key:
		fmt.Fprintf(stderr, "%s verifies: it is signed by the key you named.\n", c.File)
	case "":
		fmt.Fprintf(stderr, "%s verifies: it is signed by the key in it. Only you can tell whose key that is: compare its fingerprint,\n%s, with the coordinator's by another way than this file, or give --key.\n", c.File, key)
	default:
		return c.Refuse(stdout, &study.VerifyError{What: "coordinator", Query: -1, Reason: "the key in the file is " + key + ", not " + want})
	}
	if c.JSON {
		return PrintJSON(stdout, verdict{Holds: true, Verified: v, Key: key, KeyCompared: want != ""})
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, row := range append(v.Rows(), [2]string{"key", key}) {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	return w.Flush()
}

// Refuse returns study.Verify's error with the file's name, and prints what does not hold where JSON is wanted; a
// file that is no JSON is an *[InputError].
func (c *Verify) Refuse(stdout io.Writer, err error) error {
	bad, ok := errors.AsType[*study.VerifyError](err)
	if !ok {
		return err
	}
	if bad.What == study.WhatJSON {
		return &InputError{fmt.Errorf("%s is no result: %s", c.File, bad.Reason)}
	}
	if c.JSON {
		out := verdict{What: bad.What, Reason: bad.Reason}
		if bad.Query >= 0 {
			out.Query = &bad.Query
		}
		if err := PrintJSON(stdout, out); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", c.File, err)
}
