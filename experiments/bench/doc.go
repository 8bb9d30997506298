// Package bench measures what Covey costs, next to what it is compared with: benchmarks, for `go
// test -bench` and benchstat. docs/performance.md has the commands and the figures.
//
// With -short every benchmark runs on its smallest sizes. No time fails one. What does fail it is a
// wrong answer: an opened sum that is not the true one, a study that ends without a result.
package bench
