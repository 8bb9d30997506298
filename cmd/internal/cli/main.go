package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main ends the process with the status that run returns. Its context ends with the first interrupt
// or SIGTERM; a second one ends the process, whatever it does.
func Main(run func(context.Context) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	code := run(ctx)
	stop()
	os.Exit(code)
}
