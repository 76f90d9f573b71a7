package records

import "github.com/kdissect/kdissect/tree"

// Descriptions of what stands in record batches, named as in
// https://kafka.apache.org/documentation/#recordbatch.
var (
	descBatch = group("RecordBatch", "RecordBatch", "", tree.KindStruct, tree.RegionBatch,
		"records of one producer, compressed and checked as one")
	descBaseOffset = field("baseOffset", "baseOffset", "int64", tree.KindInt64,
		"offset of the batch; a producer sends 0, the broker sets it")
	descBatchLength = structural("batchLength", "int32", tree.KindInt32,
		"bytes of the batch behind this field")
	descLeaderEpoch = field("partitionLeaderEpoch", "partitionLeaderEpoch", "int32", tree.KindInt32,
		"epoch of the leader that appended the batch; a producer sends -1")
	descMagic = field("magic", "magic", "int8", tree.KindInt8,
		"version of the layout")
	descCRC = field("crc", "crc", "uint32", tree.KindUint32,
		"CRC-32C of everything from the attributes to the batch's end")
	descAttributes = named(field("attributes", "attributes", "int16", tree.KindInt16,
		"codec (bits 0-2), timestamp type, transactional, control, delete horizon"), batchAttributes{})
	descLastOffsetDelta = field("lastOffsetDelta", "lastOffsetDelta", "int32", tree.KindInt32,
		"offset of the last record as it was sent, counted from the base")
	descBaseTimestamp = timed(field("baseTimestamp", "baseTimestamp", "int64", tree.KindInt64,
		"time from which the records' times are counted, or the delete horizon"))
	descMaxTimestamp = timed(field("maxTimestamp", "maxTimestamp", "int64", tree.KindInt64,
		"latest time of a record; every record's time with log-append time"))
	descProducerID = field("producerId", "producerId", "int64", tree.KindInt64,
		"id of an idempotent or transactional producer, else -1")
	descProducerEpoch = field("producerEpoch", "producerEpoch", "int16", tree.KindInt16,
		"epoch of the producer id, else -1")
	descBaseSequence = field("baseSequence", "baseSequence", "int32", tree.KindInt32,
		"sequence number of the first record, else -1")
	descCount = field("recordsCount", "count", "int32", tree.KindInt32,
		"number of records in the batch")
	descRecords = group("records", "[]Record", "records", tree.KindArray, tree.RegionRecord,
		"the records, compressed together where the attributes say so")
	descCompressed = &tree.Desc{Name: "compressed records", Type: "bytes", Kind: tree.KindBytes,
		Region: tree.RegionBatch, Data: true, About: "the records as the codec left them"}
)

// Descriptions of what stands in a record of a batch.
var (
	descRecord = group("Record", "Record", "", tree.KindStruct, tree.RegionRecord,
		"one record")
	descLength = structural("length", "varint", tree.KindVarint,
		"bytes of the record behind this field")
	descRecordAttributes = &tree.Desc{Name: "attributes", Type: "int8", Kind: tree.KindInt8,
		About: "unused, 0"}
	descTimestampDelta = derived(timed(field("timestampDelta", "timestamp", "varlong", tree.KindVarint,
		"time of the record, counted from the batch's base timestamp")))
	descOffsetDelta = derived(field("offsetDelta", "offset", "varint", tree.KindVarint,
		"offset of the record, counted from the batch's base offset"))
	descKey = nullable(bytesField("key", "key", tree.EncVarint,
		"the record's key"))
	descValue = nullable(bytesField("value", "value", tree.EncVarint,
		"the record's value; null deletes the key in a compacted topic"))
	descSecretKey   = secret(descKey)
	descSecretValue = secret(descValue)
	descHeaders     = group("headers", "[]Header", "headers", tree.KindArray, tree.RegionNone,
		"headers of the record")
	descHeaderCount = structural("headersCount", "varint", tree.KindVarint,
		"number of headers")
	descHeader = group("Header", "Header", "", tree.KindStruct, tree.RegionNone,
		"one header")
	descHeaderKey = &tree.Desc{Name: "headerKey", Key: "key", Type: "string", Kind: tree.KindString,
		Enc: tree.EncVarint, Data: true, About: "name of the header"}
	descHeaderValue = nullable(bytesField("headerValue", "value", tree.EncVarint,
		"value of the header"))
)

// Descriptions of messages (magic 0 and 1), named as in
// https://kafka.apache.org/documentation/#messageset.
var (
	descMessage = group("Message", "Message", "", tree.KindStruct, tree.RegionBatch,
		"an entry of a message set: one record, or a compressed message set")
	descOffset = field("offset", "rawOffset", "int64", tree.KindInt64,
		"offset of the message; of the last one inside where it is compressed")
	descMessageSize = structural("message_size", "int32", tree.KindInt32,
		"bytes of the message behind this field")
	descMessageCRC = field("crc", "crc", "uint32", tree.KindUint32,
		"CRC-32 of everything from the magic to the message's end")
	descMessageMagic = field("magic_byte", "magic", "int8", tree.KindInt8,
		"version of the layout")
	descMessageAttributes = [2]*tree.Desc{
		named(field("attributes", "attributes", "int8", tree.KindInt8, "codec (bits 0-2)"), messageAttributes{0}),
		named(field("attributes", "attributes", "int8", tree.KindInt8, "codec (bits 0-2), timestamp type"), messageAttributes{1}),
	}
	descMessageTimestamp = timed(field("timestamp", "wrapperTimestamp", "int64", tree.KindInt64,
		"time of the message"))
	descMessageKey = nullable(bytesField("key", "key", tree.EncInt32,
		"the message's key"))
	descMessageValue = nullable(bytesField("value", "value", tree.EncInt32,
		"the message's value; null deletes the key in a compacted topic"))
	descSecretMessageKey   = secret(descMessageKey)
	descSecretMessageValue = secret(descMessageValue)
	descWrapperKey         = nullable(bytesField("key", "", tree.EncInt32,
		"key of a compressed message set, normally null"))
	descWrapperValue = nullable(bytesField("value", "", tree.EncInt32,
		"a compressed message set"))

	// Messages inside a compressed message set: JSON shows them as records.
	descInner       = group("Message", "Message", "", tree.KindStruct, tree.RegionRecord, "one record")
	descInnerOffset = derived(field("offset", "offset", "int64", tree.KindInt64,
		"offset of the message; in magic 1 counted from the first one inside"))
	descInnerCRC       = unkeyed(descMessageCRC)
	descInnerMagic     = unkeyed(descMessageMagic)
	descInnerAttribute = [2]*tree.Desc{unkeyed(descMessageAttributes[0]), unkeyed(descMessageAttributes[1])}
	descInnerTimestamp = derived(timed(field("timestamp", "timestamp", "int64", tree.KindInt64,
		"time of the message; with log-append time the outer message's counts")))
)

// Descriptions of values that have no bytes of their own.
var (
	descPosition        = field("position", "position", "int32", tree.KindInt32, "where the batch starts in the record set")
	descSize            = field("size", "size", "int32", tree.KindInt32, "bytes of the whole batch")
	descRawOffset       = field("rawOffset", "rawOffset", "int64", tree.KindInt64, "the batch's first eight bytes")
	descFirstOffset     = field("baseOffset", "baseOffset", "int64", tree.KindInt64, "offset of the first record")
	descLastOffset      = field("lastOffset", "lastOffset", "int64", tree.KindInt64, "offset of the last record as it was sent")
	descCodec           = field("codec", "codec", "string", tree.KindString, "codec that the attributes name")
	descTimestampType   = field("timestampType", "timestampType", "string", tree.KindString, "whose clock the timestamps are of")
	descTransactional   = field("isTransactional", "isTransactional", "bool", tree.KindBool, "whether the batch is part of a transaction")
	descControl         = field("isControl", "isControl", "bool", tree.KindBool, "whether the records are for Kafka itself")
	descDeleteHorizon   = nullable(timed(field("deleteHorizonMs", "deleteHorizonMs", "int64", tree.KindInt64, "when tombstones in the batch may go")))
	descLastSequence    = field("lastSequence", "lastSequence", "int32", tree.KindInt32, "sequence number of the last record")
	descSentDelta       = field("timestampDelta", "timestampDelta", "int64", tree.KindInt64, "time of the record as it was sent, counted from the base timestamp")
	descSequence        = field("sequence", "sequence", "int32", tree.KindInt32, "sequence number of the record")
	descRecordOffset    = field("offset", "offset", "int64", tree.KindInt64, "offset of the record")
	descRecordTimestamp = timed(field("timestamp", "timestamp", "int64", tree.KindInt64, "time of the record, -1 for none"))
	descControlType     = field("controlType", "controlType", "string", tree.KindString, "name of a control record's type")
)

// Descriptions of what stands in control records.
var (
	descKeyLength   = structural("key length", "varint", tree.KindVarint, "bytes of the key")
	descValueLength = structural("value length", "varint", tree.KindVarint, "bytes of the value")
	descControlVer  = field("version", "controlKeyVersion", "int16", tree.KindInt16, "version of the key")
	descControlID   = named(field("type", "controlTypeId", "int16", tree.KindInt16, "type of the control record"), controlNames{})
	descMarkerVer   = field("version", "controlValueVersion", "int16", tree.KindInt16, "version of the transaction marker")
	descMarker      = group("EndTxnMarker", "EndTxnMarker", "controlBody", tree.KindStruct, tree.RegionNone, "marks the end of a transaction")
	descCoordEpoch  = field("coordinatorEpoch", "coordinatorEpoch", "int32", tree.KindInt32, "epoch of the transaction coordinator")

	// In messages, lengths are of fixed size.
	descMessageKeyLength   = structural("key length", "int32", tree.KindInt32, "bytes of the key")
	descMessageValueLength = structural("value length", "int32", tree.KindInt32, "bytes of the value")
)

// Descriptions of bytes that were not decoded.
var (
	descPartial = rest("partial batch", "a batch of which only the beginning was sent")
	descCut     = rest("cut", "bytes whose end was not captured")
	descUnknown = rest("undecoded", "bytes that could not be decoded")
)

func field(name, key, typ string, k tree.Kind, about string) *tree.Desc {
	return &tree.Desc{Name: name, Key: key, Type: typ, Kind: k, About: about}
}

func structural(name, typ string, k tree.Kind, about string) *tree.Desc {
	return field(name, "", typ, k, about)
}

func bytesField(name, key string, enc tree.Encoding, about string) *tree.Desc {
	return &tree.Desc{Name: name, Key: key, Type: "bytes", Kind: tree.KindBytes, Enc: enc, Data: true, About: about}
}

func group(name, typ, key string, k tree.Kind, r tree.Region, about string) *tree.Desc {
	return &tree.Desc{Name: name, Key: key, Type: typ, Kind: k, Region: r, About: about}
}

func rest(name, about string) *tree.Desc {
	return &tree.Desc{Name: name, Type: "bytes", Kind: tree.KindRest, Data: true, About: about}
}

func copyOf(d *tree.Desc) *tree.Desc {
	c := *d
	return &c
}

func named(d *tree.Desc, n tree.Names) *tree.Desc { d.Names = n; return d }
func timed(d *tree.Desc) *tree.Desc               { d.Time = true; return d }
func derived(d *tree.Desc) *tree.Desc             { d.Derived = true; return d }
func nullable(d *tree.Desc) *tree.Desc            { d.Nullable = true; return d }

func secret(d *tree.Desc) *tree.Desc {
	c := copyOf(d)
	c.Secret = true
	return c
}

func unkeyed(d *tree.Desc) *tree.Desc {
	c := copyOf(d)
	c.Key = ""
	return c
}
