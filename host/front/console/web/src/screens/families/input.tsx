import * as text from '../../text'
import type { Schema } from './wire'

/** A value as it stands in an input: a text as it is, everything else as JSON. */
export const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The value that was typed, by the schema of the setting, or by its default where the schema names no type. */
export function parse(schema: Schema, standard: unknown, typed: string): unknown {
  if (schema.enum) return schema.enum.find((v) => show(v) === typed)
  if (kindOf(schema, standard) === 'string') return typed
  return JSON.parse(typed) as unknown
}

const kindOf = (schema: Schema, standard: unknown): string => schema.type ?? typeof standard

/** The input for a value of a schema. */
export function Input(p: { label: string; schema: Schema; standard: unknown; value: string; disabled: boolean; onType: (typed: string) => void }) {
  const kind = kindOf(p.schema, p.standard)
  const choices = p.schema.enum ?? (kind === 'boolean' ? [true, false] : undefined)
  const rest = { 'aria-label': p.label, value: p.value, disabled: p.disabled }
  if (choices)
    return (
      <select {...rest} onChange={(e) => p.onType(e.currentTarget.value)}>
        {choices.map((c) => (
          <option key={show(c)} value={show(c)}>
            {kind === 'boolean' ? text.families.settings.truth(c === true) : show(c)}
          </option>
        ))}
      </select>
    )
  if (kind === 'number' || kind === 'integer')
    return <input {...rest} type="number" required min={p.schema.minimum} max={p.schema.maximum} step={kind === 'integer' ? 1 : 'any'} onInput={(e) => p.onType(e.currentTarget.value)} />
  if (kind === 'string' && p.value.length < 60) return <input {...rest} type="text" maxLength={p.schema.maxLength} onInput={(e) => p.onType(e.currentTarget.value)} />
  return <textarea {...rest} rows={3} spellcheck={false} onInput={(e) => p.onType(e.currentTarget.value)} />
}
