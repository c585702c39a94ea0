// Package spans sends the spans of calls to a collector of OpenTelemetry, by OTLP over HTTP.
package spans

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"

	"github.com/alcove-memory/alcove/host/internal/trace"
)

const (
	sendWithin  = 10 * time.Second // one batch
	closeWithin = 5 * time.Second
	tracesPath  = "/v1/traces" // of a collector
)

// Options configures a Recorder.
type Options struct {
	URL     string // of the collector, such as http://127.0.0.1:4318
	Version string // of the program
	Logger  *slog.Logger
}

// Recorder implements trace.Recorder. Spans are sent in batches; those that a collector does not take in time are dropped.
type Recorder struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
}

// check refuses a URL that is not a collector's.
func check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%.80q cannot be a collector of OpenTelemetry: give a URL such as http://127.0.0.1:4318", address)
	}
	return nil
}

// New returns a recorder that sends to a collector. What OTEL_EXPORTER_OTLP_HEADERS says goes with each batch.
func New(ctx context.Context, o Options) (*Recorder, error) {
	if err := check(o.URL); err != nil {
		return nil, err
	}
	address := strings.TrimSuffix(o.URL, "/")
	if !strings.HasSuffix(address, tracesPath) {
		address += tracesPath
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address), otlptracehttp.WithTimeout(sendWithin),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false})) // the next batch is the next attempt
	if err != nil {
		return nil, fmt.Errorf("send spans to %s: %w", address, err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(&logged{SpanExporter: exporter, logger: o.Logger}),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "alcove"), attribute.String("service.version", o.Version))))
	return &Recorder{provider, provider.Tracer("github.com/alcove-memory/alcove")}, nil
}

// logged logs once that a collector takes nothing, where the library would write each time.
type logged struct {
	sdk.SpanExporter
	logger *slog.Logger
	failed atomic.Bool
}

// ExportSpans implements the library's exporter.
func (l *logged) ExportSpans(ctx context.Context, list []sdk.ReadOnlySpan) error {
	err := l.SpanExporter.ExportSpans(ctx, list)
	if failed := err != nil; l.failed.Swap(failed) != failed && failed {
		l.logger.Warn("spans cannot be sent, and are dropped until the collector takes them", "error", err)
	}
	return nil
}

// Begin implements trace.Recorder.
func (r *Recorder) Begin(ctx context.Context, s trace.Span) (context.Context, func(failure string)) {
	kind := otel.SpanKindInternal
	if !otel.SpanContextFromContext(ctx).IsValid() {
		kind, ctx = otel.SpanKindServer, otel.ContextWithRemoteSpanContext(ctx, remote(trace.Of(ctx)))
	}
	var attributes []attribute.KeyValue
	for _, a := range []struct{ name, value string }{{"gen_ai.tool.name", s.Tool}, {"alcove.family", s.Family}, {"alcove.operation", s.Op}} {
		if a.value != "" {
			attributes = append(attributes, attribute.String(a.name, a.value))
		}
	}
	ctx, span := r.tracer.Start(ctx, s.Name, otel.WithSpanKind(kind), otel.WithAttributes(attributes...))
	own := span.SpanContext()
	if p, ok := trace.Parse(fmt.Sprintf("00-%s-%s-%s", own.TraceID(), own.SpanID(), own.TraceFlags())); ok {
		ctx = trace.With(ctx, p)
	}
	return ctx, func(failure string) {
		if failure != "" {
			span.SetStatus(codes.Error, "")
			span.SetAttributes(attribute.String("error.type", failure))
		}
		span.End()
	}
}

// remote is a client's trace context in the library's form; the zero one, if there is none.
func remote(p trace.Parent) otel.SpanContext {
	id, err := otel.TraceIDFromHex(p.Trace())
	span, err2 := otel.SpanIDFromHex(p.Span())
	if errors.Join(err, err2) != nil {
		return otel.SpanContext{}
	}
	flags := otel.TraceFlags(0)
	if p.Sampled() {
		flags = otel.FlagsSampled
	}
	return otel.NewSpanContext(otel.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: flags, Remote: true})
}

// Close sends what was recorded.
func (r *Recorder) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	return r.provider.Shutdown(ctx)
}
