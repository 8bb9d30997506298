// Package proposal resolves and checks a study.toml, and makes the proposal from it, with roster,
// keys and thresholds; everyone hashes, signs and approves its exact bytes (docs/protocol.md). It
// is pure: package proposals keeps those that wait at a site.
package proposal
