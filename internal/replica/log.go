package replica

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// bridge passes raft's log lines to slog, all at debug level with raft's own
// level beside them: what an operator must know, this package says itself. Raft
// prints whole requests, entries included, in a few of its messages, so only
// values of harmless types pass; the rest show as their type.
type bridge struct {
	l       *slog.Logger
	name    string
	implied []any
}

const errorLimit = 200 // bytes of an error's text that are logged

func newBridge(l *slog.Logger) hclog.Logger {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return &bridge{l: l, name: "raft"}
}

func (b *bridge) Log(level hclog.Level, msg string, args ...any) {
	if !b.l.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.String("source", b.name), slog.String("level_there", level.String())}
	args = append(b.implied[:len(b.implied):len(b.implied)], args...)
	for i := 0; i+1 < len(args); i += 2 {
		key, ok := args[i].(string)
		if !ok {
			key = "arg"
		}
		attrs = append(attrs, slog.Attr{Key: key, Value: harmless(args[i+1])})
	}
	b.l.LogAttrs(context.Background(), slog.LevelDebug, msg, attrs...)
}

func harmless(v any) slog.Value {
	switch v := v.(type) {
	case bool, int, int32, int64, uint, uint32, uint64, float64, time.Duration, time.Time:
		return slog.AnyValue(v)
	case string:
		return slog.StringValue(v)
	case raft.ServerID:
		return slog.StringValue(string(v))
	case raft.ServerAddress:
		return slog.StringValue(string(v))
	case raft.RaftState:
		return slog.StringValue(v.String())
	case error:
		s := v.Error()
		return slog.StringValue(s[:min(len(s), errorLimit)])
	}
	return slog.StringValue(fmt.Sprintf("[redacted %T]", v))
}

func (b *bridge) Trace(msg string, args ...any) { b.Log(hclog.Trace, msg, args...) }
func (b *bridge) Debug(msg string, args ...any) { b.Log(hclog.Debug, msg, args...) }
func (b *bridge) Info(msg string, args ...any)  { b.Log(hclog.Info, msg, args...) }
func (b *bridge) Warn(msg string, args ...any)  { b.Log(hclog.Warn, msg, args...) }
func (b *bridge) Error(msg string, args ...any) { b.Log(hclog.Error, msg, args...) }

func (b *bridge) on() bool      { return b.l.Enabled(context.Background(), slog.LevelDebug) }
func (b *bridge) IsTrace() bool { return b.on() }
func (b *bridge) IsDebug() bool { return b.on() }
func (b *bridge) IsInfo() bool  { return b.on() }
func (b *bridge) IsWarn() bool  { return b.on() }
func (b *bridge) IsError() bool { return b.on() }

func (b *bridge) ImpliedArgs() []any { return b.implied }

func (b *bridge) With(args ...any) hclog.Logger {
	return &bridge{l: b.l, name: b.name, implied: append(b.implied[:len(b.implied):len(b.implied)], args...)}
}

func (b *bridge) Name() string { return b.name }

func (b *bridge) Named(name string) hclog.Logger { return b.ResetNamed(b.name + "." + name) }

func (b *bridge) ResetNamed(name string) hclog.Logger {
	return &bridge{l: b.l, name: name, implied: b.implied}
}

func (b *bridge) SetLevel(hclog.Level)  {}
func (b *bridge) GetLevel() hclog.Level { return hclog.Debug }

// StandardLogger and StandardWriter serve the network transport's accept loop;
// free text cannot be judged, so none of it passes.
func (b *bridge) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return log.New(io.Discard, "", 0)
}
func (b *bridge) StandardWriter(*hclog.StandardLoggerOptions) io.Writer { return io.Discard }
