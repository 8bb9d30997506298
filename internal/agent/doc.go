// Package agent is a site's daemon: it answers the queries of approved studies with masked sums,
// and keeps the operator's approvals and the site's policy (docs/protocol.md). The link that they
// come by is internal/uplink's.
//
// Nothing here trusts the coordinator. A study's digest is computed from the
// bytes that came; every query is checked against the plan of those bytes; what
// leaves is first charged and then stored in the ledger, and sent from there. An
// agent that is cut off at any instant and started again goes on from its data
// directory alone and sends the same bytes.
//
// # The data directory
//
// agent.toml is the configuration (internal/siteconfig). The site's keys and certificate are
// internal/pki's, ledger/ is internal/ledger's, pending/ holds proposals that
// await the operator, egress.jsonl one line for each message that left, and
// agent.sock is the operator's socket. Directories are 0700 and files 0600, but
// for the two certificates, which anyone may read.
package agent
