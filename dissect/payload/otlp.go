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
	otlpMetricsData.fields(many(1, "resourceMetrics", "ResourceMetrics", &otlpResourceMetrics, "metrics of one instance"))
	otlpResourceMetrics.fields(
		one(1, "resource", "Resource", &otlpResource, "the instance"),
		many(2, "scopeMetrics", "ScopeMetrics", &otlpScopeMetrics, "metrics of one library"),
		scalar(3, "schemaUrl", protoString, "conventions that names follow"))
	otlpResource.fields(
		attributes(1, "what is known of the instance"),
		scalar(2, "droppedAttributesCount", protoVarint, "attributes left out"))
	otlpScopeMetrics.fields(
		one(1, "scope", "InstrumentationScope", &otlpScope, "the library"),
		many(2, "metrics", "Metric", &otlpMetric, "one metric"),
		scalar(3, "schemaUrl", protoString, "conventions that names follow"))
	otlpScope.fields(
		scalar(1, "name", protoString, "name of the library"),
		scalar(2, "version", protoString, "its version"),
		attributes(3, "what is known of the library"),
		scalar(4, "droppedAttributesCount", protoVarint, "attributes left out"))
	otlpMetric.fields(
		scalar(1, "name", protoString, "name of the metric"),
		scalar(2, "description", protoString, "what it measures"),
		scalar(3, "unit", protoString, "unit of its values"),
		one(5, "gauge", "Gauge", &otlpGauge, "values at moments"),
		one(7, "sum", "Sum", &otlpSum, "sums over times"),
		one(9, "histogram", "Histogram", &otlpHistogram, "counts by explicit bounds"),
		one(10, "exponentialHistogram", "ExponentialHistogram", &otlpExpHistogram, "counts by powers of a base"),
		one(11, "summary", "Summary", &otlpSummary, "quantiles"),
		many(12, "metadata", "KeyValue", &otlpKeyValue, "what is known of the metric"))
	otlpGauge.fields(many(1, "dataPoints", "NumberDataPoint", &otlpNumberPoint, "a value"))
	otlpSum.fields(
		many(1, "dataPoints", "NumberDataPoint", &otlpNumberPoint, "a value"),
		temporality(), scalar(3, "isMonotonic", protoBool, "whether the sum never falls"))
	otlpHistogram.fields(many(1, "dataPoints", "HistogramDataPoint", &otlpHistogramPoint, "a histogram"), temporality())
	otlpExpHistogram.fields(many(1, "dataPoints", "ExponentialHistogramDataPoint", &otlpExpHistogramPoint, "a histogram"), temporality())
	otlpSummary.fields(many(1, "dataPoints", "SummaryDataPoint", &otlpSummaryPoint, "quantiles"))
	otlpPoints()
	otlpKeyValue.fields(
		scalar(1, "key", protoString, "name of the attribute"),
		one(2, "value", "AnyValue", &otlpAnyValue, "its value"))
	otlpAnyValue.fields(
		scalar(1, "stringValue", protoString, ""), scalar(2, "boolValue", protoBool, ""),
		scalar(3, "intValue", protoVarint, ""), scalar(4, "doubleValue", protoDouble, ""),
		one(5, "arrayValue", "ArrayValue", &otlpArrayValue, ""), one(6, "kvlistValue", "KeyValueList", &otlpKeyValueList, ""),
		scalar(7, "bytesValue", protoBytes, ""))
	otlpArrayValue.fields(many(1, "values", "AnyValue", &otlpAnyValue, "one value"))
	otlpKeyValueList.fields(many(1, "values", "KeyValue", &otlpKeyValue, "one pair"))
}

// otlpPoints fills in the messages that hold values.
func otlpPoints() {
	start := func() protoField {
		return scalar(2, "startTimeUnixNano", protoFixed64, "from when on it counts, nanoseconds since 1970")
	}
	at := func() protoField {
		return scalar(3, "timeUnixNano", protoFixed64, "when it was read, nanoseconds since 1970")
	}
	count := func() protoField { return scalar(4, "count", protoFixed64, "number of values") }
	sum := func() protoField { return scalar(5, "sum", protoDouble, "sum of the values") }
	otlpNumberPoint.fields(start(), at(),
		scalar(4, "asDouble", protoDouble, "the value"), scalar(6, "asInt", protoFixed64, "the value"),
		many(5, "exemplars", "Exemplar", &otlpExemplar, "a sample"),
		attributes(7, "what the value is about"), scalar(8, "flags", protoVarint, "1 = no value was recorded."))
	otlpHistogramPoint.fields(start(), at(), count(), sum(),
		packed(6, "bucketCounts", protoFixed64, "number of values in each bucket"),
		packed(7, "explicitBounds", protoDouble, "upper bounds of the buckets"),
		many(8, "exemplars", "Exemplar", &otlpExemplar, "a sample"),
		attributes(9, "what the values are about"), scalar(10, "flags", protoVarint, "1 = no value was recorded."),
		scalar(11, "min", protoDouble, "least value"), scalar(12, "max", protoDouble, "largest value"))
	otlpExpHistogramPoint.fields(attributes(1, "what the values are about"), start(), at(), count(), sum(),
		scalar(6, "scale", protoZigzag, "the base is 2 to the power of 2 to the power of -scale"),
		scalar(7, "zeroCount", protoFixed64, "number of values near 0"),
		one(8, "positive", "Buckets", &otlpBuckets, "values above 0"), one(9, "negative", "Buckets", &otlpBuckets, "values below 0"),
		scalar(10, "flags", protoVarint, "1 = no value was recorded."), many(11, "exemplars", "Exemplar", &otlpExemplar, "a sample"),
		scalar(12, "min", protoDouble, "least value"), scalar(13, "max", protoDouble, "largest value"),
		scalar(14, "zeroThreshold", protoDouble, "what counts as near 0"))
	otlpBuckets.fields(scalar(1, "offset", protoZigzag, "exponent of the first bucket"),
		packed(2, "bucketCounts", protoVarint, "number of values in each bucket"))
	otlpSummaryPoint.fields(start(), at(), count(), sum(),
		many(6, "quantileValues", "ValueAtQuantile", &otlpQuantile, "a quantile"),
		attributes(7, "what the values are about"), scalar(8, "flags", protoVarint, "1 = no value was recorded."))
	otlpQuantile.fields(scalar(1, "quantile", protoDouble, "share of the values that are below"), scalar(2, "value", protoDouble, "the value"))
	otlpExemplar.fields(scalar(2, "timeUnixNano", protoFixed64, "when it was taken"),
		scalar(3, "asDouble", protoDouble, "the value"), scalar(6, "asInt", protoFixed64, "the value"),
		scalar(4, "spanId", protoBytes, "span it belongs to"), scalar(5, "traceId", protoBytes, "trace it belongs to"),
		many(7, "filteredAttributes", "KeyValue", &otlpKeyValue, "what the value is about"))
}

func attributes(num uint64, about string) protoField {
	return many(num, "attributes", "KeyValue", &otlpKeyValue, about)
}

func temporality() protoField {
	f := scalar(2, "aggregationTemporality", protoVarint, "whether sums start anew with each report")
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

var otlpBody = &tree.Desc{Name: "MetricsData", Key: "body", Type: "MetricsData", Kind: tree.KindStruct, About: "metrics of a client"}

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

var unreadMetrics = &tree.Desc{Name: "undecoded", Type: "bytes", Kind: tree.KindRest, About: "bytes that are no OTLP metrics"}
