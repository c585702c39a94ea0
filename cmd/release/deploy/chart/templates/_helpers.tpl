{{- define "alcove.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "alcove.selector" -}}
app.kubernetes.io/name: alcove
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "alcove.labels" -}}
{{ include "alcove.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "alcove.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion | replace "+" "-" }}
{{- with .Values.image.digest }}@{{ . }}{{ end -}}
{{- end -}}
