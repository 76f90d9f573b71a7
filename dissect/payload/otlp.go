package payload

import "github.com/kdissect/kdissect/tree"

// Messages of OpenTelemetry's metrics (opentelemetry/proto/metrics/v1/metrics.proto), as far as
// clients send them; names are those of OTLP's JSON form.
var (
	otlpMetricsData       protoMessage
	otlpResourceMetrics   protoMessage
	otlpResource          protoMessage
	otlpScopeMetrics      protoMessage
	otlpScope             protoMessage
	otlpMetric            protoMessage
	otlpGauge             protoMessage
	otlpSum               protoMessage
	otlpHistogram         protoMessage
	otlpExpHistogram      protoMessage
	otlpSummary           protoMessage
	otlpNumberPoint       protoMessage
	otlpHistogramPoint    protoMessage
	otlpExpHistogramPoint protoMessage
	otlpBuckets           protoMessage
	otlpSummaryPoint      protoMessage
	otlpQuantile          protoMessage
	otlpExemplar          protoMessage
	otlpKeyValue          protoMessage
	otlpAnyValue          protoMessage
	otlpArrayValue        protoMessage
	otlpKeyValueList      protoMessage
)

func init() {
	otlpMetricsData.fields(many(1, "resourceMetrics", "ResourceMetrics", &otlpResourceMetrics, "Metrics of one instance."))
	otlpResourceMetrics.fields(
		one(1, "resource", "Resource", &otlpResource, "The instance."),
		many(2, "scopeMetrics", "ScopeMetrics", &otlpScopeMetrics, "Metrics of one library."),
		scalar(3, "schemaUrl", protoString, "Conventions that names follow."))
	otlpResource.fields(
		attributes(1, "What is known of the instance."),
		scalar(2, "droppedAttributesCount", protoVarint, "Attributes left out."))
	otlpScopeMetrics.fields(
		one(1, "scope", "InstrumentationScope", &otlpScope, "The library."),
		many(2, "metrics", "Metric", &otlpMetric, "One metric."),
		scalar(3, "schemaUrl", protoString, "Conventions that names follow."))
	otlpScope.fields(
		scalar(1, "name", protoString, "Name of the library."),
		scalar(2, "version", protoString, "Its version."),
		attributes(3, "What is known of the library."),
		scalar(4, "droppedAttributesCount", protoVarint, "Attributes left out."))
	otlpMetric.fields(
		scalar(1, "name", protoString, "Name of the metric."),
		scalar(2, "description", protoString, "What it measures."),
		scalar(3, "unit", protoString, "Unit of its values."),
		one(5, "gauge", "Gauge", &otlpGauge, "Values at moments."),
		one(7, "sum", "Sum", &otlpSum, "Sums over times."),
		one(9, "histogram", "Histogram", &otlpHistogram, "Counts by explicit bounds."),
		one(10, "exponentialHistogram", "ExponentialHistogram", &otlpExpHistogram, "Counts by powers of a base."),
		one(11, "summary", "Summary", &otlpSummary, "Quantiles."),
		many(12, "metadata", "KeyValue", &otlpKeyValue, "What is known of the metric."))
	otlpGauge.fields(many(1, "dataPoints", "NumberDataPoint", &otlpNumberPoint, "A value."))
	otlpSum.fields(
		many(1, "dataPoints", "NumberDataPoint", &otlpNumberPoint, "A value."),
		temporality(), scalar(3, "isMonotonic", protoBool, "Whether the sum never falls."))
	otlpHistogram.fields(many(1, "dataPoints", "HistogramDataPoint", &otlpHistogramPoint, "A histogram."), temporality())
	otlpExpHistogram.fields(many(1, "dataPoints", "ExponentialHistogramDataPoint", &otlpExpHistogramPoint, "A histogram."), temporality())
	otlpSummary.fields(many(1, "dataPoints", "SummaryDataPoint", &otlpSummaryPoint, "Quantiles."))
	otlpPoints()
	otlpKeyValue.fields(
		scalar(1, "key", protoString, "Name of the attribute."),
		one(2, "value", "AnyValue", &otlpAnyValue, "Its value."))
	otlpAnyValue.fields(
		scalar(1, "stringValue", protoString, ""), scalar(2, "boolValue", protoBool, ""),
		scalar(3, "intValue", protoVarint, ""), scalar(4, "doubleValue", protoDouble, ""),
		one(5, "arrayValue", "ArrayValue", &otlpArrayValue, ""), one(6, "kvlistValue", "KeyValueList", &otlpKeyValueList, ""),
		scalar(7, "bytesValue", protoBytes, ""))
	otlpArrayValue.fields(many(1, "values", "AnyValue", &otlpAnyValue, "One value."))
	otlpKeyValueList.fields(many(1, "values", "KeyValue", &otlpKeyValue, "One pair."))
}

// otlpPoints fills in the messages that hold values.
func otlpPoints() {
	start := func() protoField {
		return scalar(2, "startTimeUnixNano", protoFixed64, "From when on it counts, nanoseconds since 1970.")
	}
	at := func() protoField {
		return scalar(3, "timeUnixNano", protoFixed64, "When it was read, nanoseconds since 1970.")
	}
	count := func() protoField { return scalar(4, "count", protoFixed64, "Number of values.") }
	sum := func() protoField { return scalar(5, "sum", protoDouble, "Sum of the values.") }
	otlpNumberPoint.fields(start(), at(),
		scalar(4, "asDouble", protoDouble, "The value."), scalar(6, "asInt", protoFixed64, "The value."),
		many(5, "exemplars", "Exemplar", &otlpExemplar, "A sample."),
		attributes(7, "What the value is about."), scalar(8, "flags", protoVarint, "1 = no value was recorded."))
	otlpHistogramPoint.fields(start(), at(), count(), sum(),
		packed(6, "bucketCounts", protoFixed64, "Number of values in each bucket."),
		packed(7, "explicitBounds", protoDouble, "Upper bounds of the buckets."),
		many(8, "exemplars", "Exemplar", &otlpExemplar, "A sample."),
		attributes(9, "What the values are about."), scalar(10, "flags", protoVarint, "1 = no value was recorded."),
		scalar(11, "min", protoDouble, "Least value."), scalar(12, "max", protoDouble, "Largest value."))
	otlpExpHistogramPoint.fields(attributes(1, "What the values are about."), start(), at(), count(), sum(),
		scalar(6, "scale", protoZigzag, "The base is 2 to the power of 2 to the power of -scale."),
		scalar(7, "zeroCount", protoFixed64, "Number of values near 0."),
		one(8, "positive", "Buckets", &otlpBuckets, "Values above 0."), one(9, "negative", "Buckets", &otlpBuckets, "Values below 0."),
		scalar(10, "flags", protoVarint, "1 = no value was recorded."), many(11, "exemplars", "Exemplar", &otlpExemplar, "A sample."),
		scalar(12, "min", protoDouble, "Least value."), scalar(13, "max", protoDouble, "Largest value."),
		scalar(14, "zeroThreshold", protoDouble, "What counts as near 0."))
	otlpBuckets.fields(scalar(1, "offset", protoZigzag, "Exponent of the first bucket."),
		packed(2, "bucketCounts", protoVarint, "Number of values in each bucket."))
	otlpSummaryPoint.fields(start(), at(), count(), sum(),
		many(6, "quantileValues", "ValueAtQuantile", &otlpQuantile, "A quantile."),
		attributes(7, "What the values are about."), scalar(8, "flags", protoVarint, "1 = no value was recorded."))
	otlpQuantile.fields(scalar(1, "quantile", protoDouble, "Share of the values that are below."), scalar(2, "value", protoDouble, "The value."))
	otlpExemplar.fields(scalar(2, "timeUnixNano", protoFixed64, "When it was taken."),
		scalar(3, "asDouble", protoDouble, "The value."), scalar(6, "asInt", protoFixed64, "The value."),
		scalar(4, "spanId", protoBytes, "Span it belongs to."), scalar(5, "traceId", protoBytes, "Trace it belongs to."),
		many(7, "filteredAttributes", "KeyValue", &otlpKeyValue, "What the value is about."))
}

func attributes(num uint64, about string) protoField {
	return many(num, "attributes", "KeyValue", &otlpKeyValue, about)
}

func temporality() protoField {
	f := scalar(2, "aggregationTemporality", protoVarint, "Whether sums start anew with each report.")
	f.desc.Names = temporalityNames{}
	return f
}

// temporalityNames names how sums relate to those before.
type temporalityNames struct{}

// Name returns OTLP's word for v.
func (temporalityNames) Name(v int64) string {
	switch v {
	case 0:
		return "UNSPECIFIED"
	case 1:
		return "DELTA"
	case 2:
		return "CUMULATIVE"
	}
	return ""
}

var otlpBody = &tree.Desc{Name: "MetricsData", Key: "body", Type: "MetricsData", Kind: tree.KindStruct, About: "Metrics of a client."}

// walkOTLP gives the events of metrics, or of their bytes where they cannot be read.
func walkOTLP(b []byte, at tree.Span, path string, sink tree.Sink) {
	if !otlpMetricsData.valid(b, 0) {
		leaf := tree.Event{Desc: unreadMetrics, Span: at, Value: tree.Value{Bytes: b}, Flags: tree.FlagStructural}
		sink.Leaf(leaf)
		sink.Issue(tree.Issue{Severity: tree.Info, Code: tree.CodePayload, Span: at, Path: path, Text: "cannot be read as OTLP metrics"})
		return
	}
	e := tree.Event{Desc: otlpBody, Span: at, Aux: -1}
	if sink.Begin(e) {
		w := protoWalk{sink: sink, buf: b, at: at}
		w.message(&otlpMetricsData, 0, len(b))
	}
	sink.End(e)
}

var unreadMetrics = &tree.Desc{Name: "undecoded", Type: "bytes", Kind: tree.KindRest, About: "Bytes that are no OTLP metrics."}
