package schema

import (
	"bytes"
	"strings"
	"sync"
)

// This file is the one list of what is secret: outputs show none of it unless asked to. The
// parts of SASL tokens are told apart by dissect/payload.

// secret reports whether a bytes field holds a password, a key or what stands for one.
func secret(m *Message, field string) bool {
	switch field {
	case "AuthBytes", "Hmac", "SaltedPassword", "StoredKey", "ServerKey":
		return true
	case "Salt":
		return strings.Contains(m.Name, "Scram")
	}
	return false
}

// SecretConfig reports whether the config of that name holds a secret in its value. Kafka's own
// are those of its type password; of others the name tells.
func SecretConfig(name []byte) bool {
	for _, part := range secretConfigs {
		if bytes.Contains(name, part) {
			return true
		}
	}
	return bytes.HasSuffix(name, []byte("ssl.keystore.key"))
}

// secretConfigs are parts of the names of such configs, also behind the prefix of a listener.
var secretConfigs = [][]byte{
	[]byte("password"), []byte("passphrase"), []byte("secret"), []byte("credential"), []byte("jaas.config"),
	[]byte("private.key"), []byte("api.key"), []byte("access.key"), []byte("auth.user.info"), []byte("keystore.certificate.chain"),
	[]byte("truststore.certificates"),
}

// mayHide reports whether what a field with that role holds may be secret, which only its
// contents or its neighbours tell.
func (r Role) mayHide() bool {
	return r == RoleConfigValue || r == RoleRequestData || r == RoleResponseData
}

// HoldsSecrets reports whether bodies of an API may hold secrets, so that bytes of theirs that
// could not be decoded are not shown. Where the key is not known (-1), they may.
func HoldsSecrets(key int16) bool { return key == NoKey || secretAPIs()[key] }

// secretAPIs are the APIs with fields that are or may be secret.
var secretAPIs = sync.OnceValue(func() map[int16]bool {
	keys := map[int16]bool{}
	for _, a := range Default().apis {
		for _, m := range []*Message{a.Request, a.Response} {
			if m != nil && defsHold(m, m.Name, m.Fields) {
				keys[a.Key] = true
			}
		}
	}
	return keys
})

func defsHold(m *Message, structName string, defs []*FieldDef) bool {
	for _, f := range defs {
		op, base := ops[f.ElemType()]
		if base && (op == OpBytes && secret(m, f.Name) || role(m, structName, f, op).mayHide()) {
			return true
		}
		if !base && defsHold(m, f.ElemType(), m.Struct(f)) {
			return true
		}
	}
	return false
}

// HoldsSecrets reports whether a struct has fields that are secret or may be.
func (s *Struct) HoldsSecrets() bool {
	for _, list := range [][]Field{s.Fields, s.Tags} {
		for i := range list {
			f := &list[i]
			for f.Elem != nil {
				f = f.Elem
			}
			if f.Desc.Secret || Role(f.Desc.Role).mayHide() || f.Struct != nil && f.Struct.HoldsSecrets() {
				return true
			}
		}
	}
	return false
}

// hide completes the fields of a struct whose value another field makes secret.
func (s *Struct) hide() {
	for i := range s.Fields {
		f := &s.Fields[i]
		if Role(f.Desc.Role) != RoleConfigValue {
			continue
		}
		hidden := *f.Desc
		hidden.Secret = true
		f.Hidden, f.Mark = &hidden, -1
		skip := 0
		for _, next := range s.Fields[i+1:] {
			if next.Desc.Name == "IsSensitive" {
				f.Mark = skip
			}
			if next.FixedSize < 0 {
				break
			}
			skip += next.FixedSize
		}
	}
}
