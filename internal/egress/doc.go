// Package egress keeps a site's record of what left it: egress.jsonl, one line for each message,
// with its kind, its study, its size and its hash, and never its content. The lines are chained, so
// that a change to the file shows.
//
// Log is the agent's, which appends. Verify reads the file by itself, beside a running agent or
// without one. The package knows no messages: the agent describes each by a Line.
package egress
