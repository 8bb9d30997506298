package coordinator_test

import (
	"covey/internal/coordinator"
	"covey/internal/operator"
)

func init() { coordinator.Operator = operator.Handler }
