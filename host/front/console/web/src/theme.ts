import { effect, signal } from '@preact/signals'

type Theme = 'auto' | 'light' | 'dark'

const kept = 'alcove.theme'
const order: Theme[] = ['auto', 'light', 'dark']

export const theme = signal<Theme>(order.find((t) => t === localStorage.getItem(kept)) ?? 'auto')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  localStorage.setItem(kept, theme.value)
})

export function nextTheme(): void {
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length]!
}
