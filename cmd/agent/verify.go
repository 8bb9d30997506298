package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

type verifyCmd struct {
	File string `arg:"" help:"A result, as \"coordinator study result --json\" prints it."`
	Key  string `placeholder:"FINGERPRINT" help:"The coordinator key that must have signed it, as somebody you trust read it to you."`
}

// verdict is verify's --json: of a result that holds what it says, of another what
// does not hold.
type verdict struct {
	Holds bool `json:"verified"`
	*study.Verified
	Key         string       `json:"key,omitempty"`  // fingerprint of the coordinator's
	KeyCompared bool         `json:"key_compared"`   // with --key
	Here        ledger.State `json:"here,omitempty"` // the study on this site's ledger, if one was read

	What   string `json:"what,omitempty"`
	Query  *int   `json:"query,omitempty"`
	Reason string `json:"reason,omitempty"`
}

var fingerprintForm = regexp.MustCompile(`^([a-z2-7]{4}-){5}[a-z2-7]{4}$`)

func (c *verifyCmd) Run(t *terminal) error {
	want := strings.ToLower(c.Key)
	if want != "" && !fingerprintForm.MatchString(want) {
		return &inputError{fmt.Errorf("--key must be a fingerprint, six groups of four letters and digits, got %q", c.Key)}
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return &inputError{err}
	}
	v, err := study.Verify(text)
	if err != nil {
		return c.refuse(t, err)
	}
	key := pki.Fingerprint(ed25519.PublicKey(v.Coordinator))
	if want != "" && want != key {
		return c.refuse(t, &study.VerifyError{What: "coordinator", Query: -1, Reason: "the key in the file is " + key + ", not " + want})
	}
	here, err := onLedger(t, v)
	if err != nil {
		return c.refuse(t, err)
	}
	switch {
	case want != "":
		t.say("%s verifies: it is signed by the key you named.", c.File)
	case here == ledger.Approved || here == ledger.Finished:
		t.say("%s verifies: it is signed by the key in the proposal that this site approved.", c.File)
	default:
		t.say("%s verifies: it is signed by the key in it. Only you can tell whose key that is: compare its fingerprint,\n%s, with the coordinator's by another way than this file, or give --key.", c.File, key)
	}
	return t.print(verdict{Holds: true, Verified: v, Key: key, KeyCompared: want != "", Here: here}, func(out io.Writer) {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		rows := append(v.Rows(), [2]string{"key", key})
		if here != "" {
			rows = append(rows, [2]string{"here", string(here)})
		}
		for _, row := range rows {
			fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
		}
		w.Flush()
	})
}

// onLedger compares with the ledger of the agent in t.dir, if one is there and at
// rest: the digest is of the proposal's exact bytes, so a study that was approved
// under it is the one in the file. A result that lists this site's key for a study
// that it never approved is refused.
func onLedger(t *terminal, v *study.Verified) (here ledger.State, err error) {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return "", nil // no agent's folder
	}
	dir := filepath.Join(config.DataDir(), "ledger")
	site, err := pki.LoadSite(config.DataDir())
	if _, stat := os.Stat(dir); err != nil || stat != nil {
		return "", nil // never ran; Open would make a ledger
	}
	l, err := ledger.Open(dir)
	if err != nil {
		t.say("Not compared with this site's ledger (%v): see whether \"agent study list\" has the digest.", err)
		return "", nil
	}
	defer l.Close()
	here = ledger.Unknown
	for _, s := range l.Studies() {
		if s.Study == v.Digest {
			here = s.State
		}
	}
	mine := site.Identity().Public().(ed25519.PublicKey)
	listed := slices.ContainsFunc(v.Roster, func(m study.Member) bool { return mine.Equal(ed25519.PublicKey(m.Identity)) })
	if listed && here != ledger.Approved && here != ledger.Finished {
		return "", &study.VerifyError{What: "sites", Query: -1, Reason: fmt.Sprintf("this site is listed, and on its ledger the study is %q", here)}
	}
	return here, nil
}

// refuse says what does not hold; a file that is no JSON is bad input.
func (c *verifyCmd) refuse(t *terminal, err error) error {
	bad, ok := errors.AsType[*study.VerifyError](err)
	if !ok {
		return err
	}
	if bad.What == study.WhatJSON {
		return &inputError{fmt.Errorf("%s is no result: %s", c.File, bad.Reason)}
	}
	if t.json {
		out := verdict{What: bad.What, Reason: bad.Reason}
		if bad.Query >= 0 {
			out.Query = &bad.Query
		}
		if err := t.print(out, nil); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", c.File, err)
}
