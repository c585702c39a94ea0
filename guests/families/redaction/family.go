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
//alcove:example is there an AWS key in this snippet?
//alcove:example black out the password before you store it
//alcove:example what would you hide in this config file?
//alcove:example dry run: which parts of the text would be replaced?
//alcove:example did I save my credit card PIN somewhere in here?
//alcove:example look for secrets in the notes of the last month
//alcove:example scan the whole namespace for tokens
//alcove:example any private SSH keys stored?
//alcove:example I accidentally pasted a token into a note
//alcove:example my API key may have ended up in memory
//alcove:example check for passwords in the captured chats
//alcove:example make sure that credentials never reach the disk
//alcove:example scrub the text
//alcove:example sanitise this log first
//alcove:example mask bearer tokens
//alcove:example remove sensitive strings from the conversation
//alcove:example does this contain anything secret?
//alcove:example is it safe to store this .env file?
//alcove:example find leaked credentials
//alcove:example which memories hold a password?
//alcove:example audit memory for sensitive data
//alcove:example security check of what is stored: secrets
//alcove:example have connection strings with passwords been saved?
//alcove:example hide the client secret
//alcove:example test the redaction on this sample
//alcove:example show what would be blacked out
//alcove:example where does it see a secret in this line?
//alcove:example which kinds of secrets do you recognise?
//alcove:example don't keep my PIN
//alcove:example obfuscate access codes
//alcove:example anonymise keys in the transcript
//alcove:example detect GitHub tokens
//alcove:example the database password is in one of the notes, which?
//alcove:example strip the JWT out of this request before saving it
//alcove:example censor the webhook secret
//alcove:example we need to know whether any key leaked into the notes
//alcove:example purge secrets from text
//alcove:example look over this curl command for tokens before you remember it
//alcove:example is there a certificate's private key among the memories?
//alcove:example list entries with confidential strings
//alcove:example has anyone stored login data?
//alcove:example clean the dump of credentials
//alcove:example prevent passwords from being remembered
//alcove:example secret scanning
//alcove:example preview masking
//alcove:example compliance: no credentials in memory, verify
//alcove:example replace the tokens by placeholders
//alcove:example the text has a session cookie, will it be stored?
//alcove:example find the note with the exposed Stripe key
//alcove:example keep secrets out
//alcove:example I typed my password in the chat
//alcove:example leak check
//alcove:example sensitive bits in this paragraph?
//alcove:example was the root password written down anywhere?
//alcove:example tell me the places where a secret would be removed
//alcove:example protect API keys in what I save
//alcove:example show notes whose content looks like a key
//alcove:example make keys unreadable in what you keep
//alcove:example inspect this stack trace for secrets
//alcove:example unmask nothing, just tell me the kinds of secrets in there
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
