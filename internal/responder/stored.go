package responder

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"

	"covey/internal/ledger"
	"covey/internal/study"
	"covey/internal/wire"
)

// Final returns the result on record of a query.
func Final(j *ledger.Journal, query int) (wire.Final, bool) {
	stored, ok := j.FinalResult(query)
	if !ok {
		return wire.Final{}, false
	}
	held, err := decodeFinal(stored)
	return held, err == nil
}

// FinalRefusal answers a question about a query that is over with its signed result; also after the
// study is over here.
func FinalRefusal(l *ledger.Ledger, r wire.Message) (wire.Refusal, bool) {
	no := wire.Refuse(r, study.CodeFinal)
	held, ok := Final(l.Journal(r.About().Study), no.Query)
	if !ok {
		return wire.Refusal{}, false
	}
	if release, err := study.ParseHead(held.Encoded); err == nil {
		no.Slot = release.Slot
	}
	no.Final = &held
	return no, true
}

var errStored = errors.New("responder: what is stored does not parse")

// encodeFinal is the stored form of a signed release, in parts: its signature, its certificate
// behind its length, the release.
func encodeFinal(f wire.Final) [][]byte {
	return [][]byte{f.Signature, binary.BigEndian.AppendUint32(nil, uint32(len(f.Certificate))), f.Certificate, f.Encoded}
}

func decodeFinal(b []byte) (wire.Final, error) {
	const head = ed25519.SignatureSize + 4
	if len(b) < head {
		return wire.Final{}, errStored
	}
	size := int(binary.BigEndian.Uint32(b[ed25519.SignatureSize:]))
	if size > len(b)-head {
		return wire.Final{}, errStored
	}
	return wire.Final{Signature: b[:ed25519.SignatureSize], Certificate: b[head : head+size], Encoded: b[head+size:]}, nil
}

// decodeSurvivors reads the stored form, secagg.Survivors.Bytes: a count, then the
// indices, two bytes each.
func decodeSurvivors(b []byte) ([]int, error) {
	if len(b) < 2 || len(b) != 2+2*int(binary.BigEndian.Uint16(b)) {
		return nil, errStored
	}
	var out []int
	for b = b[2:]; len(b) > 0; b = b[2:] {
		out = append(out, int(binary.BigEndian.Uint16(b)))
	}
	return out, nil
}
