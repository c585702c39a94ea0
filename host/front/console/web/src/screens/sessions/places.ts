import { call } from '../../call'
import { view } from '../../view'

const most = 50 // namespaces that are looked through

/** The namespaces that the view has: the chosen one, or all that one may read. */
export async function places(abort: AbortSignal): Promise<string[]> {
  const chosen = view.namespace.value
  if (chosen && chosen !== '*') return [chosen]
  const status = await call<{ namespaces?: { name: string }[] }>('memory_status', { namespaces: true }, { signal: abort })
  const names = (status.namespaces ?? []).map((n) => n.name)
  return (names.length > 0 ? names : ['default']).slice(0, most)
}
