import type { ComponentChildren, JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import * as text from '../text'
import { Icon } from './icon'

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon'> & { kind?: 'main' | 'plain' | 'danger'; icon?: string }

export function Button({ kind = 'plain', icon, children, class: more = '', ...rest }: ButtonProps) {
  return (
    <button type="button" class={`button ${kind} ${more}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A word in a frame. With onRemove it has a button that takes it away. */
export function Chip({ children, tone = '', onRemove, label }: { children: ComponentChildren; tone?: string; onRemove?: () => void; label?: string }) {
  return (
    <span class={`chip ${tone}`}>
      {children}
      {onRemove && (
        <button type="button" class="chip-remove" aria-label={label} onClick={onRemove}>
          ×
        </button>
      )}
    </span>
  )
}

/** An input with its label above it. */
export function Field({ label, hint, ...rest }: JSX.IntrinsicElements['input'] & { label: string; hint?: string }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} {...rest} aria-describedby={hint ? id + 'h' : undefined} />
      {hint && <small id={id + 'h'}>{hint}</small>}
    </div>
  )
}

export function Select({ label, value, choices, onChoose, hidden }: { label: string; value: string; choices: [value: string, name: string][]; onChoose: (v: string) => void; hidden?: boolean }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={hidden ? 'unseen' : ''}>
        {label}
      </label>
      <select id={id} value={value} onChange={(e) => onChoose(e.currentTarget.value)}>
        {choices.map(([v, name]) => (
          <option key={v} value={v}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Links that look like tabs: each is a page of its own, with its own address. */
export function Tabs({ label, tabs, here }: { label: string; tabs: { id: string; name: string; href: string }[]; here: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((t) => (
        <a key={t.id} href={t.href} aria-current={t.id === here ? 'page' : undefined}>
          {t.name}
        </a>
      ))}
    </nav>
  )
}

/** A command to copy. */
export function Copy({ command }: { command: string }) {
  const [done, setDone] = useState(false)
  const copy = () => navigator.clipboard.writeText(command).then(() => setDone(true), () => {})
  return (
    <span class="command">
      <code>{command}</code>
      <Button onClick={copy}>{done ? text.copied : text.copy}</Button>
    </span>
  )
}
