package proposal

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/pelletier/go-toml/v2"
)

// Components is how many principal components a study is asked for: a number, or ComponentsAuto.
type Components int

// ComponentsAuto leaves the number to what is released, up to components_max.
const ComponentsAuto Components = -1 << 31

// unreadable stands for a value that is neither a number nor "auto": check refuses it and names its
// key.
const unreadable Components = 1<<31 - 1

// componentsMost is components_max where the file does not name it.
const componentsMost = 10

func (c Components) String() string {
	if c == ComponentsAuto {
		return "auto"
	}
	return strconv.Itoa(int(c))
}

// UnmarshalTOML reads the raw value: "auto" or a number.
func (c *Components) UnmarshalTOML(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if s := string(raw); s == `"auto"` || s == `'auto'` {
		*c = ComponentsAuto
		return nil
	}
	v, err := strconv.ParseInt(string(raw), 0, 32)
	if *c = Components(v); err != nil || *c == ComponentsAuto {
		*c = unreadable
	}
	return nil
}

// MarshalTOML writes what UnmarshalTOML reads.
func (c Components) MarshalTOML() ([]byte, error) { return c.MarshalJSON() }

// MarshalJSON writes "auto" or a number.
func (c Components) MarshalJSON() ([]byte, error) {
	if c == ComponentsAuto {
		return []byte(`"auto"`), nil
	}
	return strconv.AppendInt(nil, int64(c), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Components) UnmarshalJSON(text []byte) error { return c.UnmarshalTOML(text) }

// encode writes a value as TOML.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	err := toml.NewEncoder(&out).EnableMarshalerInterface().Encode(v)
	return out.Bytes(), err
}

// MostComponents is how many components the plan is made for: those asked for, or the most that
// there can be where the number is left open: one a column, since a release may leave out some of
// the coordinates of a column with levels, but of a column that varies not all. What a study asks,
// and what it charges, follows from this number alone, never from the one that is found.
func (s *Spec) MostComponents() int {
	if s.Components == ComponentsAuto {
		return min(s.ComponentsMax, len(s.Columns))
	}
	return int(s.Components)
}

// ComponentsWords say for people how many components a plan finds.
func (s *Spec) ComponentsWords() string {
	if s.Components != ComponentsAuto {
		return strconv.Itoa(s.MostComponents())
	}
	return fmt.Sprintf("auto: up to %d, as many as the noised spectrum shows", s.MostComponents())
}

// checkComponents checks the number of components, or the most where it is left open.
func (s *Spec) checkComponents() error {
	if s.Components != ComponentsAuto {
		if s.ComponentsMax != 0 {
			return FieldErrorf("components_max", `is of components = "auto" alone, got %d`, s.ComponentsMax)
		}
		if s.Components == unreadable {
			return FieldErrorf("components", `must be in 1..%d, or "auto"`, MaxComponents)
		}
		if s.Components < 1 || s.Components > MaxComponents {
			return FieldErrorf("components", "must be in 1..%d, got %d", MaxComponents, s.Components)
		}
		return nil
	}
	switch {
	case s.ComponentsMax < 1 || s.ComponentsMax > MaxComponents:
		return FieldErrorf("components_max", "must be in 1..%d, got %d", MaxComponents, s.ComponentsMax)
	case s.Subspace == SubspaceDeflation:
		return FieldErrorf("components", `"auto" looks at all components together: subspace = "block"`)
	case s.Start != nil:
		return FieldErrorf("components", `must be a number with a start, got "auto"`)
	case s.Accountant == AccountantPaper:
		return FieldErrorf("components", `must be 1 with accountant = "paper", got "auto"`)
	case s.Method != MethodCovariance && s.ExplainedVariance != VariancePrivate:
		return FieldErrorf("explained_variance", `must be "private" with components = "auto": power iteration shows how many there are by their variances`)
	}
	return nil
}
