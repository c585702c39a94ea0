package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Credentials sign requests. They are in no error and no log.
type Credentials struct{ ID, Secret, Session string }

// ParseCredentials reads a profile of a file as AWS's tools have it: lines of NAME = VALUE below [PROFILE].
func ParseCredentials(text []byte, profile string) (c Credentials, err error) {
	found := false
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			found = strings.Trim(line, "[] ") == profile
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		if !found {
			continue
		}
		switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
		case "aws_access_key_id":
			c.ID = value
		case "aws_secret_access_key":
			c.Secret = value
		case "aws_session_token":
			c.Session = value
		}
	}
	if err := c.check(); err != nil {
		return Credentials{}, fmt.Errorf("profile %.100q: %w", profile, err)
	}
	return c, nil
}

func (c Credentials) check() error {
	if c.ID == "" || c.Secret == "" {
		return errors.New("aws_access_key_id or aws_secret_access_key is missing")
	}
	return nil
}
