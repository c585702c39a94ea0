package hook

import "unicode"

// tokens estimates the tokens of a text by cl100k_base, rather too high than too low: a vocabulary takes longer to load than a hook may
// take. A run of letters has a token for its first four characters and for each three more, other characters are one each.
func tokens(text string) (count int) {
	letters := 0
	for _, r := range text {
		switch {
		case r > unicode.MaxLatin1:
			count, letters = count+2, 0
		case unicode.IsLetter(r):
			if letters++; letters == 1 || letters > 4 && (letters-4)%3 == 1 {
				count++
			}
		case r == ' ':
			letters = 0 // is part of the word that follows
		default:
			count, letters = count+1, 0
		}
	}
	return count
}
