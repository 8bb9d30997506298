package result

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// entries are a list of structs in a result. An entry of a few bytes, such as {}, takes hundreds in
// memory: who reads another's file or draft would need far more than its size.
type entries[E any] []E

// UnmarshalJSON refuses a list that has more entries than its text has room for, before it makes
// any. Each has all of its keys, and so no fewer bytes than one of zeros and empty lists.
func (l *entries[E]) UnmarshalJSON(text []byte) error {
	var zero E
	least, err := json.Marshal(zero)
	if err != nil {
		return err
	}
	least = bytes.ReplaceAll(least, []byte("null"), []byte("[]"))
	if n := commas(text); n*len(least) > len(text) {
		return fmt.Errorf("%d entries in %d bytes lack keys", n+1, len(text))
	}
	return json.Unmarshal(text, (*[]E)(l))
}

// commas counts those between the entries of a list, which is valid JSON.
func commas(list []byte) int {
	n, depth, quoted := 0, 0, false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			n++
		}
	}
	return n
}
