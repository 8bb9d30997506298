package pki

import (
	"crypto/ed25519"
	"encoding/binary"
)

// joinMessage is what an identity key signs to join: the label, the site's name,
// the token's hash and the certificate request, each after its length in 8 bytes,
// big-endian. The label keeps it apart from everything else that the key signs.
func joinMessage(name string, tokenHash [32]byte, csr []byte) []byte {
	var m []byte
	for _, part := range [][]byte{[]byte("covey join v1"), []byte(name), tokenHash[:], csr} {
		m = binary.BigEndian.AppendUint64(m, uint64(len(part)))
		m = append(m, part...)
	}
	return m
}

// CheckIdentityProof checks [Holder.ProveIdentity]: that the holder of pub asks, with
// this token and no other, for a certificate of this request. So a token that was
// seen on the way cannot bring in another identity under a request of the site, nor
// a site's identity under another's request. The error is [ErrIdentityProof].
func CheckIdentityProof(pub ed25519.PublicKey, name string, tokenHash [32]byte, csr, sig []byte) error {
	// ed25519.Verify panics on a key of the wrong length.
	if len(pub) != ed25519.PublicKeySize || !ed25519.Verify(pub, joinMessage(name, tokenHash, csr), sig) {
		return ErrIdentityProof
	}
	return nil
}
