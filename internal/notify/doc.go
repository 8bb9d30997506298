// Package notify tells people that a program needs them, through a command that they name or a
// webhook. It never carries data: a notice is a word, the first digits of a study's digest and a
// time, and a study's name only where the configuration asks for it.
//
// A program states facts, again and again; a fact that is new becomes a notice to every target that
// wants its word. Notices are kept in a file until their target took them, so that a restart loses
// none; one that is tried again has the same id.
package notify
