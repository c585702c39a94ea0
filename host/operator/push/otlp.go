package push

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/proto"
)

const (
	logsPath      = "/v1/logs" // of a collector
	longestAnswer = 64 << 10   // bytes that are read
)

// otlp posts log records to a collector of OpenTelemetry, in protobuf.
type otlp struct {
	url     string
	header  http.Header
	of      *resource.Resource
	client  http.Client
	version string
}

func newOTLP(text, headers string, o Options) (*otlp, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%.80q cannot be a collector of OpenTelemetry: give a URL such as http://127.0.0.1:4318", text)
	}
	address := strings.TrimSuffix(text, "/")
	if !strings.HasSuffix(address, logsPath) {
		address += logsPath
	}
	header, err := headersOf(headers)
	if err != nil {
		return nil, err
	}
	header.Set("Content-Type", "application/x-protobuf")
	of := &resource.Resource{Attributes: []*common.KeyValue{named("service.name", "alcove"), named("service.version", o.Version)}}
	if o.Name != "" {
		of.Attributes = append(of.Attributes, named("service.namespace", o.Name))
	}
	return &otlp{url: address, header: header, of: of, version: o.Version, client: http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// headersOf reads NAME=VALUE,…, each value as in a query of a URL.
func headersOf(text string) (http.Header, error) {
	h := http.Header{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %d parts of NAME=VALUE are wanted, with commas between them", strings.Count(text, ",")+1)
		}
		h.Set(strings.TrimSpace(name), plain)
	}
	return h, nil
}

// send implements collector.
func (c *otlp) send(ctx context.Context, list []line) error {
	if len(list) == 0 {
		return nil
	}
	records := make([]*logs.LogRecord, len(list))
	now := uint64(time.Now().UnixNano())
	for i, l := range list {
		records[i] = recordOf(l, now)
	}
	// The message of a request has the same form.
	body, err := proto.Marshal(&logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{Resource: c.of,
		ScopeLogs: []*logs.ScopeLogs{{Scope: &common.InstrumentationScope{Name: "alcove.audit", Version: c.version}, LogRecords: records}}}}})
	if err != nil {
		return fmt.Errorf("encode log records: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("post log records: %w", err)
	}
	r.Header = c.header.Clone()
	answer, err := c.client.Do(r)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = failed.Err // which repeats the URL
	}
	if err != nil {
		return fmt.Errorf("post log records to %.300s: %w", c.url, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("post log records to %.300s: the server answered %d %s", c.url, answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	_, _ = io.CopyN(io.Discard, answer.Body, longestAnswer) // so that the connection is used again
	return nil
}

func recordOf(l line, now uint64) *logs.LogRecord {
	e := l.entry
	number, text := logs.SeverityNumber_SEVERITY_NUMBER_INFO, "INFO"
	if severity(e) == warning {
		number, text = logs.SeverityNumber_SEVERITY_NUMBER_WARN, "WARN"
	}
	return &logs.LogRecord{TimeUnixNano: uint64(e.Time.UnixNano()), ObservedTimeUnixNano: now, SeverityNumber: number, SeverityText: text, EventName: "alcove.audit." + string(e.Kind),
		Body: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: string(l.text)}},
		Attributes: []*common.KeyValue{named("alcove.kind", string(e.Kind)),
			{Key: "alcove.seq", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: int64(e.Seq)}}}}}
}

func named(name, value string) *common.KeyValue {
	return &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

func (c *otlp) close() { c.client.CloseIdleConnections() }
