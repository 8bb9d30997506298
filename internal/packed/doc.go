// Package packed writes vectors of numbers as one short text each, which JSON holds as a string: a
// letter, the bytes of a number as a digit, and in base64 the numbers one after another,
// little-endian. A vector has exactly one text; any other is refused.
package packed
