package cli

import "testing"

// TestEmptyNameIsBadInput: a request about nothing is not made.
func TestEmptyNameIsBadInput(t *testing.T) {
	c := NewClient("coordinator", "nowhere.sock")
	for path, empty := range map[string]bool{"/v1/studies": false, "/v1/studies/": true, "/v1/studies//abort": true, "/v1/studies/a%2F%2Fb": false} {
		if _, err := c.Call(t.Context(), "GET", path, nil); Is[*InputError](err) != empty || Is[*DialError](err) == empty {
			t.Errorf("%s: %v", path, err)
		}
	}
}
