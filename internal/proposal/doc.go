// Package proposal resolves and checks a study.toml, and makes the proposal of it, with roster,
// keys and thresholds, whose exact bytes everyone hashes, signs and approves (docs/protocol.md). It
// is pure: package proposals keeps those that wait at a site.
package proposal
