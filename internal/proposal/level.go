package proposal

import "covey/internal/query"

// checkLeveled checks what goes with columns that have levels.
func (s *Spec) checkLeveled() error {
	columns := s.Leveled()
	switch {
	case columns == 0:
		return nil
	case columns > MaxValues/query.LevelBins:
		return FieldErrorf("columns", "at most %d with levels, got %d", MaxValues/query.LevelBins, columns)
	case s.Profile == ProfilePaper || s.Accountant == AccountantPaper:
		return FieldErrorf("columns", "the paper has no charge for the counts of levels: leave levels out, or profile and accountant")
	case s.Start != nil:
		return FieldErrorf("start", "needs public constants: vectors found at other shares of levels point elsewhere")
	}
	return nil
}
