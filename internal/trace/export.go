package trace

import (
	"context"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Wanted reports whether the environment names a collector, as OpenTelemetry has it.
func Wanted() bool {
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// flush bounds the wait for a collector at the end.
const flush = 5 * time.Second

// Start exports a coordinator's spans over OTLP/HTTP to the collector that the environment
// names, with its other OTEL_EXPORTER_OTLP_ variables, until stop is called. A collector that
// does not answer holds nothing up: spans are dropped, and the log says so.
func Start(ctx context.Context, s Source, node string, log *slog.Logger) (stop func(), err error) {
	// The process's: this is the one exporter that it has.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("spans were not exported", "error", err) }))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	return start(s, node, sdk.NewBatchSpanProcessor(exporter)), nil
}

func start(s Source, node string, processor sdk.SpanProcessor) (stop func()) {
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(processor), sdk.WithIDGenerator(generator{}), sdk.WithSampler(sdk.AlwaysSample()),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "covey-coordinator"), attribute.String("service.instance.id", node))))
	r := newReader(s, provider.Tracer(instrument))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(ctx)
	}()
	return func() {
		cancel()
		<-done
		last, end := context.WithTimeout(context.Background(), flush)
		defer end()
		provider.Shutdown(last) // what was not sent is lost, and the coordinator's end is not
	}
}
