package siteconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"covey/internal/dataset"
	"covey/internal/study"
)

// Words for what becomes of a data set's rows in the cache (Dataset.Cache).
const (
	CacheStudy  = "study"  // a file as long as the study is pending or approved
	CacheKeep   = "keep"   // a file until the data set changes or the word does
	CacheMemory = "memory" // no file
)

// smallFile is up to which length a file is read into memory if nothing is said: faster than
// what a cache file costs.
const smallFile = 4 << 20

// Uncached reports whether a study's rows are read into memory.
func (d Dataset) Uncached(at dataset.Source) bool {
	if d.Cache != "" || at.Query != nil {
		return d.Cache == CacheMemory
	}
	info, err := os.Stat(at.Path)
	return err == nil && info.Size() <= smallFile
}

// Request is what a study wants of the data set, as dataset reads it.
func (d Dataset) Request(spec study.Spec) dataset.Request {
	q := dataset.Request{Unit: spec.Unit, Missing: dataset.Missing(spec.Missing), Precision: dataset.Precision(d.Precision)}
	for _, c := range spec.Columns {
		q.Columns = append(q.Columns, dataset.Column{Name: c.Name, Offset: c.Offset, Scale: c.Scale})
	}
	return q
}

// Pin is what an approval binds: the SHA-256 of the data set's bytes where those alone say
// what its values are, and otherwise a hash of it with what else does. A slot's mask is used
// once, so a sum that is computed again must be of the very same values.
func (d Dataset) Pin(sha [32]byte) [32]byte {
	if d.Precision != string(dataset.Float32) && len(d.Names) == 0 {
		return sha
	}
	// Names hold no line ends, and the two hashes' words differ in their number.
	words := append([]string{"covey pin 1", hex.EncodeToString(sha[:]), d.Precision}, d.Names...)
	return sha256.Sum256([]byte(strings.Join(words, "\n")))
}

// Keeper names the data set in the cache, for rows that outlive a study.
func (d Dataset) Keeper() string {
	sum := sha256.Sum256([]byte(d.Name))
	return "keep-" + hex.EncodeToString(sum[:8])
}

// CacheDir is the folder of rows as studies read them, in the clear.
func (c *Config) CacheDir() string { return filepath.Join(c.DataDir(), "cache") }
