package score

// Unread reports whether it was hardly used in the time that it had for it.
func (f Forgotten) Unread() bool { return f.Accesses < fewAccesses && f.Days > unreadDays }

// Unimportant reports whether its importance is low.
func (f Forgotten) Unimportant() bool { return f.Importance < littleImportant }
