// Package chain is the hash chain over what the coordinators' log decides: which sites joined and
// were revoked, proposals, releases and the ends of studies (docs/protocol.md). A coordinator
// extends it with each such entry ([Log]); a site follows it ([Follower]) and recomputes every
// link, so that a coordinator which shows another past than before cannot hide it.
package chain
