package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"covey/cmd/internal/cli"
	"covey/internal/pki"
	"covey/internal/report"
	"covey/internal/result"
	"covey/internal/sheet"
	"covey/internal/study"
	"covey/internal/worth"
)

type exportCmd struct {
	File   string `arg:"" help:"A result file. It must verify."`
	NPZ    string `name:"npz" placeholder:"FILE" help:"Write a NumPy archive with scikit-learn's names (docs/result-file.md)."`
	CSV    string `name:"csv" placeholder:"FILE" help:"Write a table, one line for each component."`
	Worth  string `placeholder:"FILE" help:"Write what the result is worth as JSON: bounds of captured variance, angles, loadings."`
	Report string `placeholder:"FILE" help:"Write one page for an ethics board as HTML, to be read and printed anywhere: what was asked, who approved it, what left each site, what it is worth."`
	Plots  string `placeholder:"DIR" help:"Draw explained variance, loadings, convergence, noise and pictures of scores, as SVG and PNG."`

	Pictures string `placeholder:"FILE" help:"Write the histograms of scores as a table, one line for each bin."`

	written []string
}

func (c *exportCmd) Run(t *cli.Terminal) error {
	if c.Plots == "" && strings.Join(c.files(), "") == "" {
		return cli.Bad("nothing to write from %s: give --npz, --csv or --plots, or --worth, --report or --pictures", c.File)
	}
	for _, path := range c.files() {
		if same(path, c.File) {
			return cli.Bad("%s is the result itself, which nothing else can replace", path)
		}
	}
	r, err := c.read(t)
	if err != nil {
		return err
	}
	of, err := t.Worth(r)
	if err != nil {
		return err
	}
	if r.Simulated && c.Report != "" {
		return cli.Bad("%s is not from a study that took place: there is nothing to report, so leave --report out", c.File)
	}
	if r.Simulated {
		of.Sentences = slices.Insert(of.Sentences, 0, "SIMULATED: no site took part, nobody signed it, and it proves nothing.")
	}
	if c.Pictures != "" && len(r.Pictures) == 0 && len(r.Scores) == 0 {
		return cli.Bad("%s has no histograms of scores: its study did not have picture = true", c.File)
	}
	if err := c.possible(); err != nil {
		return err
	}
	for _, f := range []struct {
		path    string
		content func(io.Writer) error
	}{
		{c.NPZ, func(w io.Writer) error { return report.WriteNPZ(w, r, of) }},
		{c.CSV, func(w io.Writer) error { return report.WriteCSV(w, r, of) }},
		{c.Worth, func(w io.Writer) error { return cli.PrintJSON(w, of) }},
		{c.Report, func(w io.Writer) error { return writeSheet(w, r, of) }},
		{c.Pictures, func(w io.Writer) error { return report.WritePictures(w, r) }},
	} {
		if f.path == "" {
			continue
		}
		if err := c.write(t, f.path, f.content); err != nil {
			return err
		}
	}
	if c.Plots != "" {
		if err := c.plot(t, r, of); err != nil {
			return err
		}
	}
	return t.Print(struct {
		Files []string `json:"files"`
	}{c.written}, func(io.Writer) {}) // as text, each as it was written
}

// files returns the path of each file but the plots; empty of one that is not asked for.
func (c *exportCmd) files() []string {
	return []string{c.NPZ, c.CSV, c.Worth, c.Report, c.Pictures}
}

func writeSheet(w io.Writer, r *result.Result, of *worth.Report) error {
	plan, err := study.NewPlan(r.Proposal)
	if err != nil {
		return err
	}
	subject := sheet.Of(plan, r, of)
	subject.Key = pki.Fingerprint(ed25519.PublicKey(plan.Proposal.Coordinator))
	return sheet.Write(w, subject, "")
}

// read returns a result that verifies, or a simulated one, which all that is written of it says.
func (c *exportCmd) read(t *cli.Terminal) (*result.Result, error) {
	file, err := cli.OpenTwice(c.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, v, err := result.Read(file)
	if bad, ok := errors.AsType[*result.VerifyError](err); ok && bad.What == result.WhatSimulated {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, &cli.InputError{Err: err}
		}
		if r, err = result.ReadSimulated(file); err == nil {
			t.Say("%s is SIMULATED: no site took part, nobody signed it, and it proves nothing", c.File)
			return r, nil
		}
	}
	if err != nil {
		return nil, (&cli.Verify{File: c.File}).Refuse(t, err)
	}
	t.Say("%s verifies: it is signed by the key in it, %s", c.File, pki.Fingerprint(ed25519.PublicKey(v.Coordinator)))
	return r, nil
}

func (c *exportCmd) plot(t *cli.Terminal, r *result.Result, of *worth.Report) error {
	plots, err := report.Plots(r, of)
	if err != nil {
		return err
	}
	if len(r.Pictures) > 0 && r.VarianceUnknown() {
		t.Say("pictures are not drawn: %s", r.VarianceNote)
	}
	if err := os.MkdirAll(c.Plots, 0o755); err != nil {
		return err
	}
	for _, p := range plots {
		if err := c.write(t, filepath.Join(c.Plots, p.Name+".svg"), p.WriteSVG); err != nil {
			return err
		}
		if err := c.write(t, filepath.Join(c.Plots, p.Name+".png"), p.WritePNG); err != nil {
			return err
		}
	}
	return nil
}

// possible refuses files in folders that are not there, and standard output, before the first file
// is written.
func (c *exportCmd) possible() error {
	for _, path := range c.files() {
		if path == "" {
			continue
		}
		if err := cli.IsFile(path); err != nil {
			return err
		}
		folder := filepath.Dir(path)
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return cli.Bad("%s: there is no folder %s", path, folder)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return cli.Bad("%s is a folder", path)
		}
	}
	if info, err := os.Stat(c.Plots); c.Plots != "" && err == nil && !info.IsDir() {
		return cli.Bad("%s is a file, and --plots names a folder", c.Plots)
	}
	return nil
}

// same reports whether two paths are one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// write makes a file whole or not at all, in place of one of that name, and prints its
// name.
func (c *exportCmd) write(t *cli.Terminal, path string, content func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	err = errors.Join(content(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.written = append(c.written, path)
	if !t.JSON {
		_, err = fmt.Fprintln(t.Out, path)
	}
	return err
}
