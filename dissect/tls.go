package dissect

// nameTLS tells of an encrypted connection what is known of it without having read it.
func (c *conn) nameTLS() {
	t := c.TCP.TLS
	if t == nil || c.Protocol == ProtocolKafka {
		return
	}
	if !t.Decrypted {
		c.Protocol = ProtocolTLS
	}
	if t.Hello {
		c.Broker = t.Client.Other()
	}
}
