package agent_test

import (
	"covey/internal/agent"
	"covey/internal/control"
)

func init() {
	agent.Serve, agent.Handler, agent.SocketPath = control.Serve, control.Handler, control.SocketPath
}
