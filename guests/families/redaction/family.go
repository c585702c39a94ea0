// Package redaction serves the family redaction: secrets are replaced before they are stored.
//
// Keys, tokens and passwords in the value, the tags and the metadata of a memory become [redacted:KIND] before anything is written or indexed.
// The setting redact says in which memories: captured are those with the tag captured, which importers of conversations store without
// being asked to; all is every memory, and records of other families if records.read is granted; none is nothing. Events of the log are kept
// as they are given. A memory with a secret in its namespace, key, type, links or a name of its metadata, which no hook can change, is refused,
// and so is one with more than 1,000 secrets. Not found is a secret that has neither a known form nor a telling name, such as a password that
// stands alone.
//
//alcove:family redaction 1.0.0
//alcove:description Replaces secrets before they are stored: keys, tokens, passwords, private keys.
//alcove:keywords redact, redaction, secret, secrets, password, passwords, credential, credentials, leak, leaked, mask, hide, sensitive, api key
//alcove:example hide passwords before anything is saved
//alcove:example did any API keys get into memory?
//alcove:example scan my memories for leaked credentials
//alcove:example make sure secrets are never stored
//alcove:example what would be masked in this text?
//alcove:example strip tokens and private keys
//alcove:example check for sensitive data that was stored by mistake
//alcove:example I pasted my password, is it still there?
//alcove:example blank out access tokens in conversations
//alcove:example preview what gets censored
//alcove:example look for private keys in what was captured
//alcove:example is there a password in this text?
//alcove:example check this log for credentials before I keep it
//alcove:example remove secrets from what was stored
//alcove:example did I leak a token?
//alcove:example cover up sensitive strings
//alcove:example search stored conversations for access keys
//alcove:example censor private data in a message before saving
//alcove:example test whether the text has anything confidential such as keys
//alcove:license Apache-2.0
//alcove:needs memory.read * to look for secrets in what is stored
//alcove:needs records.read * to redact records of other families while redact is all
package redaction

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	Redact     string   `alcove:"enum=captured|all|none,default=captured"` // What is redacted: memories with the tag captured, all memories, or nothing
	LeaveKinds []string `alcove:"max=100"`                                 // Kinds of secrets that stay as they are, such as jwt
	LeaveTexts []string `alcove:"max=1000"`                                // Texts that are no secrets; a star at the end stands for any rest
	Mark       string   `alcove:"default=redacted:KIND,max=40"`            // What stands in brackets in place of a secret; KIND is its kind
}

// Family is redaction.
func Family() *alcove.Family {
	return alcove.New(RedactPreview{}, RedactScan{}, Redactor{})
}

// redactor replaces what the configuration does not leave.
func (c Config) redactor() secrets.Redactor { return secrets.Redactor{Leave: c.leaves, Mark: c.mark()} }

func (c Config) leaves(kind secrets.Kind, secret string) bool {
	for _, k := range c.LeaveKinds {
		if k == string(kind) {
			return true
		}
	}
	for _, text := range c.LeaveTexts {
		begin, open := strings.CutSuffix(text, "*")
		if text == secret || open && begin != "" && strings.HasPrefix(secret, begin) {
			return true
		}
	}
	return false
}

// mark is the text of marks. One that would be taken for a secret itself is not used: no text would be redacted for good.
func (c Config) mark() func(secrets.Kind) string {
	if c.Mark == "redacted:KIND" {
		return nil
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == '[' || r == ']' {
			return -1
		}
		return r
	}, c.Mark)
	of := func(k secrets.Kind) string { return "[" + strings.ReplaceAll(text, "KIND", string(k)) + "]" }
	for _, k := range secrets.Kinds() {
		if found, err := secrets.Find(of(k)); text == "" || err != nil || len(found) > 0 {
			return nil
		}
	}
	return of
}
