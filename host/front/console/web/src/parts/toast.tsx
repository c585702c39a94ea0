import { signal } from '@preact/signals'
import { Button } from './controls'
import { visible } from './value'

interface Toast {
  id: number
  message: string
  tone: 'good' | 'bad'
  undo?: { name: string; do: () => void }
}

const toasts = signal<Toast[]>([])
const shownFor = 8000 // ms
let last = 0

/** Says what was done, or that it was not. What can be undone has a button for it. */
export function tell(message: string, more: { bad?: boolean; undo?: { name: string; do: () => void } } = {}): void {
  const toast: Toast = { id: ++last, message, tone: more.bad ? 'bad' : 'good', ...(more.undo && { undo: more.undo }) }
  toasts.value = [...toasts.value.slice(-2), toast]
  setTimeout(() => drop(toast.id), shownFor)
}

function drop(id: number) {
  toasts.value = toasts.value.filter((t) => t.id !== id)
}

/** Where they appear. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((t) => (
        <div key={t.id} class={`toast ${t.tone}`}>
          <span>{visible(t.message)}</span>
          {t.undo && (
            <Button
              onClick={() => {
                drop(t.id)
                t.undo!.do()
              }}
            >
              {t.undo.name}
            </Button>
          )}
        </div>
      ))}
    </div>
  )
}
