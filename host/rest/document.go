package rest

import (
	"net/http"
)

func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	s.write(r.Context(), w, map[string]any{})
}
