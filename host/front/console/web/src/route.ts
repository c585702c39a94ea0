import { effect, signal } from '@preact/signals'
import { view } from './view'

const base = '/console/'

/** Where one is: the screen, what follows it, and the query without the parts of the view. */
export interface Route {
  screen: string
  rest: string[]
  query: URLSearchParams
}

const names = { branch: view.branch, in: view.namespace, at: view.moment }

// A name may have slashes and be dots alone, which servers take for parts of the path even where they are encoded: they are encoded twice.
const encoded = (name: string) => encodeURIComponent(name.replace(/[%/]|^\.+$/g, (s) => (s[0] === '.' ? s.replaceAll('.', '%2E') : encodeURIComponent(s))))

function decoded(part: string): string {
  try {
    return decodeURIComponent(decodeURIComponent(part))
  } catch {
    return part // which nothing is called
  }
}

function read(): Route {
  const [screen = '', ...rest] = location.pathname.slice(base.length).split('/').map(decoded)
  const query = new URLSearchParams(location.search)
  for (const [name, part] of Object.entries(names)) {
    part.value = query.get(name) ?? ''
    query.delete(name)
  }
  return { screen: screen || 'memories', rest, query }
}

export const route = signal<Route>(read())
addEventListener('popstate', () => {
  route.value = read()
})

/** The address of a place, in the present view. */
export function to(path: string[], query: Record<string, string> = {}): string {
  const all = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  for (const [name, part] of Object.entries(names)) if (part.value) all.set(name, part.value)
  const asked = all.toString()
  return base + path.map(encoded).join('/') + (asked && '?' + asked)
}

/** Goes to an address that to returned. */
export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  if (address === location.pathname + location.search) return
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', address)
  route.value = read()
}

/** Keeps the query of the present screen, for example of a search as it is typed. */
export function keep(query: Record<string, string>): void {
  go(to([route.value.screen, ...route.value.rest], query), 'replace')
}

// A change of the view changes the address.
effect(() => {
  for (const part of Object.values(names)) part.value
  const { screen, rest, query } = route.peek()
  const address = to([screen, ...rest], Object.fromEntries(query))
  if (address !== location.pathname + location.search) history.replaceState(null, '', address + location.hash) // which may have a ticket
})

/** Handles a click on a link of the console without loading the page anew. */
export function follow(e: MouseEvent): void {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return
  const link = (e.target as Element).closest('a')
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin || !link.pathname.startsWith(base) || link.pathname.startsWith(base + 'api/')) return
  e.preventDefault()
  go(link.pathname + link.search)
}
