// Package wire defines what both ends of a link agree on: the messages, how they are written and
// read, the frames that they travel in, and the versions of the protocol (docs/protocol.md). It
// alone knows the generated messages of proto/covey/v1.
//
// A message is written and decoded here and nowhere else. What decodes has a bounded shape, the
// fields on which every reader relies, and no number beyond an int32. Whether it makes sense in its
// study is the receiver's to decide.
//
// A new message needs its text in the proto file, a type with its body method, and a case in its
// side's decoder.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - VER-1, VER-2: A coordinator refuses every call of an agent that it shares no protocol with,
//     before it reads any of it, with FAILED_PRECONDITION and words that name both versions and
//     who must upgrade. The agent ends its link, or a join, with the same words
//     (`*wire.VersionError`).
//   - VER-3: Different software of the same protocol works together, in one study.
//   - VER-4: A health check needs no version.
//   - AG-16: A site's reason for a failure is a code, never text.
package wire
