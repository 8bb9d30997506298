// Package packed writes vectors of numbers as one short text each, which JSON holds as a string: a
// letter, the bytes of a number as a digit, and in base64 the numbers one after another,
// little-endian. Every vector has one text, and every other text is refused.
package packed
