package npy

import (
	"bytes"
	"strings"
	"testing"

	"covey/test/cost"
)

// What a header may say, and what is refused before anything is made for it.
func TestArrayBounds(t *testing.T) {
	head := func(descr, shape string) string {
		return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }"
	}
	for text, want := range map[string]error{
		head("'<f8'", "(2147483647,)"):                       nil,
		head("'<f8'", "(2147483648,)"):                       errLarge,
		head("'<f8'", "(2147483648, 1)"):                     errLarge,
		head("'<f8'", "(0, 9223372036854775807)"):            errLarge,
		head("'<f8'", "(18446744073709551616, 1)"):           errHeader,
		head("'<f8'", "(2147483647, 131073)"):                errLarge,
		head("'<f8'", "(1, 1048576)"):                        nil,
		head("'<f8'", "(1, 1048577)"):                        errWide,
		head("'<f8'", "("+strings.Repeat("1, ", 40)+")"):     errShape,
		head("'<U4095'", "(1,)"):                             nil,
		head("'|S0'", "(1,)"):                                errDtype,
		head("'<U4096'", "(1,)"):                             errDtype,
		head("'<f8'", "()"):                                  errShape,
		head("'<f8'", "(3, 0)"):                              errEmpty,
		head("'<f2'", "(1,)"):                                errDtype,
		head("'<f16'", "(1,)"):                               errDtype,
		head("'<m8[D]'", "(1,)"):                             errDtype,
		head("''", "(1,)"):                                   errDtype,
		head("[('a', '<f8')]", "(1,)"):                       errFields,
		head("'|O'", "(1,)"):                                 errObject,
		head("'<M8[ns]'", "(1,)"):                            errDates,
		head("'<c16'", "(1,)"):                               errPairs,
		head("'<f8', 'descr': '<f8'", "(1, 1)"):              errHeader,
		head("'<f8'", "(1, 1), 'fortran_order': False"):      errHeader,
		head("'<f8'", "(1, 1)") + " and more":                errHeader,
		"{'descr': '<f8', 'shape': (1, 1), }":                errHeader,
		"{'descr': '<f8', 'fortran_order': 0, 'shape': (), ": errHeader,
	} {
		if a, err := parseArray(text); err != want || (a == nil) != (err != nil) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	raw := append([]byte("\x93NUMPY\x02\x00"), 0xff, 0xff, 0xff, 0x7f)
	cost.Bounded(t, 4<<20, func() {
		if _, err := readArray(bytes.NewReader(append(raw, make([]byte, 100)...))); err != errHeader {
			t.Errorf("a header of 2 GiB: %v", err)
		}
	})
}

// Whatever the bytes of a header: a fault, or an array of a shape that can be.
func FuzzNPYHeader(f *testing.F) {
	for _, s := range []string{header("'<f8'", "False", "(2, 2)"), header("'<f8'", "False", "(0, 4000000000)"), header("'|S3'", "True", "(7,)"), "{'shape': (1L,), 'fortran_order': False, 'descr': \">i2\"}", "{}", "{'descr': [('a', '<f8')], }"} {
		f.Add(npy(s, doubles(1)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := readArray(bytes.NewReader(raw))
		if err != nil {
			if _, ok := err.(arrayFault); !ok {
				t.Fatal(err)
			}
			return
		}
		if a.n < 0 || a.d < 1 || a.d > maxColumns || a.length() < 0 || a.begin > int64(len(raw)) || a.dtype.size < 1 {
			t.Fatalf("%+v", a)
		}
	})
}
