// Package disk lets a test begin something on a disk that is full.
package disk
