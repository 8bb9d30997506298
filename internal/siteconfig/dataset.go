package siteconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// Words for what becomes of a data set's rows in the cache (Dataset.Cache).
const (
	CacheStudy  = "study"  // a file as long as the study is pending or approved
	CacheKeep   = "keep"   // a file until the data set changes or the word does
	CacheMemory = "memory" // no file
)

// smallRows is up to how many bytes a file's rows stay in memory by default, which is faster than a
// cache file. It counts rows as a study reads them: a packed file of a few bytes may hold a great
// many.
const smallRows = 4 << 20

// InMemory returns how many bytes of rows a study reads into memory rather than into a cache file.
func (d Dataset) InMemory() int {
	switch {
	case d.Cache == CacheMemory:
		return math.MaxInt
	case d.Cache == "" && d.Query == "":
		return smallRows
	}
	return 0
}

// Request returns what a study asks of the data set, as package dataset reads it. If a study
// accepts missing values, the site decides whether a faulty value ends reading, never the proposer.
func (d Dataset) Request(spec proposal.Spec) dataset.Request {
	q := dataset.Request{Unit: spec.Unit, Missing: missingOf(spec), Strict: d.Strict, Precision: dataset.Precision(d.Precision)}
	for _, c := range spec.Columns {
		q.Columns = append(q.Columns, dataset.Column{Name: c.Name, Offset: c.Offset, Scale: c.Scale})
		q.Readings = append(q.Readings, reading(c))
	}
	if !slices.ContainsFunc(spec.Columns, func(c proposal.Column) bool {
		return len(c.Levels) > 0 || c.As != proposal.AsNumber || c.Standardize != "" || c.Indicator
	}) {
		q.Readings = nil
	}
	return q
}

// missingOf says what becomes of cells without a value, and of values at fault. Only a study that
// refuses missing values refuses faults: else a value MUST stop nothing, since the proposer chose
// that none does.
func missingOf(spec proposal.Spec) dataset.Missing {
	switch {
	case spec.KeepsGaps():
		return dataset.MissingGaps
	case spec.Missing == proposal.MissingDropRow:
		return dataset.MissingDropFaulty
	}
	return dataset.Missing(spec.Missing)
}

// reading is what a study wants of a column's cells, as dataset reads them.
func reading(c proposal.Column) dataset.Reading {
	r := dataset.Reading{Levels: c.Levels, Indicator: c.Indicator, Learned: c.Standardize == proposal.StandardizePrivate}
	if epoch, days := c.Epoch(); days {
		r.As, r.Epoch = dataset.Days, int(epoch.Unix()/86400)
	} else if c.As == proposal.AsBoolean {
		r.As = dataset.Boolean
	}
	return r
}

// Pin returns what an approval binds: the SHA-256 of the data set's bytes if these alone determine
// its values, and otherwise a hash of it and of what else does. A slot's mask is used once, so a
// sum that is computed again must have the same values.
func (d Dataset) Pin(sha [32]byte) [32]byte {
	m := d.Mapping()
	switch {
	case !m.Empty():
		return d.mappedPin(sha, m)
	case d.Precision != string(dataset.Float32) && len(d.Names) == 0:
		return sha
	}
	// Names hold no line ends, and the two hashes' words differ in their number.
	words := append([]string{"covey pin 1", hex.EncodeToString(sha[:]), d.Precision}, d.Names...)
	return sha256.Sum256([]byte(strings.Join(words, "\n")))
}

// mappedPin is the pin of a data set with a mapping: each word has its length before it.
func (d Dataset) mappedPin(sha [32]byte, m dataset.Mapping) [32]byte {
	h := sha256.New()
	word := func(v string) { fmt.Fprintf(h, "%d\n%s", len(v), v) }
	word("covey pin 2")
	word(hex.EncodeToString(sha[:]))
	word(d.Precision)
	word(strconv.Itoa(len(d.Names)))
	for _, name := range d.Names {
		word(name)
	}
	m.Words(word)
	return [32]byte(h.Sum(nil))
}

// Keeper names the data set in the cache, for rows that outlive a study.
func (d Dataset) Keeper() string {
	sum := sha256.Sum256([]byte(d.Name))
	return "keep-" + hex.EncodeToString(sum[:8])
}

// Unnamed says what may help where a column is not found in a matrix that was given no names; empty
// of all else.
func (d Dataset) Unnamed() string {
	kind := dataset.Source{Path: d.Path, Format: dataset.Format(d.Format)}.Kind()
	if d.Query != "" || len(d.Names) > 0 || !kind.Unnamed() {
		return ""
	}
	return `names = ["...", "..."] of the data set in agent.toml names a matrix's columns, in their order; without it they are c0, c1 and so on`
}

// CacheDir is the folder of rows as studies read them, in the clear.
func (c *Config) CacheDir() string { return filepath.Join(c.DataDir(), "cache") }
