// Package result makes the result of a study's releases, signs it, verifies a file of it, and puts
// what it holds in words. It is pure, and takes what follows from a release from package study.
package result
