package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSecretConfig(t *testing.T) {
	for _, name := range []string{
		"ssl.key.password", "ssl.keystore.password", "ssl.truststore.password", "ssl.keystore.key",
		"ssl.keystore.certificate.chain", "ssl.truststore.certificates", "sasl.jaas.config",
		"listener.name.external.scram-sha-256.sasl.jaas.config", "listener.name.internal.ssl.keystore.key",
		"password.encoder.secret", "password.encoder.old.secret", "delegation.token.secret.key",
		"sasl.oauthbearer.client.credentials.client.secret", "basic.auth.user.info", "aws.secret.access.key",
	} {
		assert.True(t, SecretConfig([]byte(name)), name)
	}
	for _, name := range []string{
		"retention.ms", "cleanup.policy", "ssl.keystore.location", "ssl.keystore.type", "sasl.mechanism.inter.broker.protocol",
		"delegation.token.max.lifetime.ms", "sasl.enabled.mechanisms", "log.dirs", "",
	} {
		assert.False(t, SecretConfig([]byte(name)), name)
	}
}

func TestHoldsSecrets(t *testing.T) {
	for _, key := range []int16{NoKey, 19, 32, 33, 36, 38, 39, 40, 41, 44, 51, 58} {
		assert.True(t, HoldsSecrets(key), key)
	}
	for _, key := range []int16{0, 1, 3, 11, 17, 18, 20, 50, 68} {
		assert.False(t, HoldsSecrets(key), key)
	}
}
