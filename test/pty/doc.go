// Package pty gives tests a terminal to write to.
package pty
