// Package wire is what both ends of a link agree on: the messages, how they are written and read,
// the frames that they travel in, and the versions of the protocol (docs/protocol.md). It alone
// knows the generated messages of proto/covey/v1.
//
// A message is written and decoded here and nowhere else. What decodes is of bounded shape, has the
// fields that every reader relies on, and no number beyond an int32. Whether it makes sense in its
// study is the receiver's to decide.
//
// A new message is its text in the proto file, a type with its body method, and a case of decode.
package wire
