// Package server is what packages postgres and mariadb share.
package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"covey/internal/dataset"
)

// Answer is what a [dataset.Answer] has of whatever server: columns with names, and the pin.
type Answer struct {
	query dataset.Query
	names []string
	hash  hash.Hash
	pin   []byte // not hashed yet
}

// Begin takes the columns of a query's answer, and begins the pin with a version's line.
func (a *Answer) Begin(q dataset.Query, version string, names []string) error {
	a.query, a.hash = q, sha256.New()
	for _, name := range names {
		a.names = append(a.names, dataset.Trim(name))
	}
	if len(names) == 0 {
		return &dataset.Error{File: q.Name(), Reason: "the query returns no columns"}
	}
	if i, j := dataset.Twins(a.names); j > 0 {
		return &dataset.Error{Schema: dataset.SchemaColumns, File: q.Name(), Column: a.names[i], Reason: "two columns of the query have this name"}
	}
	a.pin = binary.LittleEndian.AppendUint32([]byte(version), uint32(len(names)))
	return nil
}

// Header returns the names of the columns.
func (a *Answer) Header() []string { return a.names }

// Pin ends the pin.
func (a *Answer) Pin() [32]byte {
	a.hash.Write(a.pin)
	a.pin = nil
	return [32]byte(a.hash.Sum(nil))
}

// Value adds a value to the pin; nil is NULL. It is below 2^30 bytes, as those of all servers are.
func (a *Answer) Value(v []byte) {
	length := uint32(1<<32 - 1)
	if v != nil {
		length = uint32(len(v))
	}
	a.pin = binary.LittleEndian.AppendUint32(a.pin, length)
	if a.pin = append(a.pin, v...); len(a.pin) > 64<<10 {
		a.hash.Write(a.pin)
		a.pin = a.pin[:0]
	}
}

// Places returns where a builder's columns are, and the one that names units, -1 for none. fits
// returns why column j cannot be what is at i; "" is that it can.
func (a *Answer) Places(b dataset.Builder, fits func(j, i int) string) (at []int, who int, err error) {
	at, who = make([]int, len(b.Columns())), -1
	var bad dataset.Unfit
	for j, c := range b.Columns() {
		if at[j], err = a.find(c.Name); err != nil {
			return nil, 0, bad.Or(err)
		}
		if why := fits(j, at[j]); why != "" {
			bad.Add(&dataset.Error{Schema: dataset.SchemaFormat, File: a.query.Name(), Column: c.Name, Reason: why})
		}
	}
	if err := bad.Or(nil); err != nil {
		return nil, 0, err
	}
	if b.Unit() != "" {
		who, err = a.find(b.Unit())
	}
	return at, who, err
}

func (a *Answer) find(name string) (int, error) {
	for i, n := range a.names {
		if n == name {
			return i, nil
		}
	}
	return 0, &dataset.Error{Schema: dataset.SchemaColumns, File: a.query.Name(), Column: name, Reason: fmt.Sprintf("none of the query's %d columns has this name", len(a.names)), Near: dataset.Near(name, a.names)}
}

// Digits returns a decimal's shortest digits, since a level is written so: 7 for a server's 7.00.
func Digits(text []byte) []byte {
	if bytes.IndexByte(text, '.') < 0 {
		return text
	}
	text = bytes.TrimRight(bytes.TrimRight(text, "0"), ".")
	if string(text) == "-0" {
		return text[1:]
	}
	return text
}
