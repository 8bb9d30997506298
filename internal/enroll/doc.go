// Package enroll connects a site or an analyst to its coordinator. It spends join files, renews
// certificates, and has the parts of every connection: TLS that remembers why it failed, the
// exchange of versions, and keep-alive.
//
// The agent's link and agent check both connect through it, so a check finds what the agent would
// meet. Nothing here sends anything about a study.
package enroll
