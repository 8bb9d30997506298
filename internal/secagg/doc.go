// Package secagg is the masking protocol of docs/protocol.md: Bonawitz et al.
// 2017 with its setup batched into one-time slots. It is pure: messages in, messages
// out. What must happen once (one upload a slot, one survivor set a slot, one opening a
// query) is the caller's journal to keep; what must be checked is checked here.
//
// Site indices are roster order from 0; site i holds the Shamir shares at x = i+1.
// Vectors are over Z_2^b, b in 32..64, held in []uint64 below 2^b.
package secagg
