// Package graph says who does what for whom in a masked sum (docs/graph.md): who holds shares of
// whose secrets, who shares masks with whom, and whose signatures on a survivor set count. It draws
// the sparse graph of large rosters from a seed, and computes the probabilities that make it safe.
// It knows nothing of keys.
package graph
