// Package proposal is what a study asks for: a study.toml as it is resolved and checked, and the
// proposal that is made of it, with roster, keys and thresholds, whose exact bytes everyone hashes,
// signs and approves (docs/protocol.md). It is pure: where a site keeps proposals that wait is
// package proposals.
package proposal
