import { call, written } from '../../api'
import { useLoad } from '../../load'
import { Empty, Loaded, Moment, Plain, Value } from '../../parts'
import { keep, route, to } from '../../route'
import { text } from '../../text'
import { view, where } from '../../view'

interface Found {
  results: { key: string; namespace: string; value: unknown; timestamp: string; tags?: string[] }[]
  total: number
}

export function Screen() {
  const query = route.value.query.get('q') ?? ''
  const found = useLoad((abort) => call<Found>('memory_search', { ...where(), query, k: 50, verbose: true }, { signal: abort }), [query, view.branch.value, view.namespace.value, view.moment.value, written.value], 40)
  return (
    <>
      <h1>{text.nav.memories}</h1>
      <input type="search" aria-label={text.nav.memories} value={query} onInput={(e) => keep({ q: e.currentTarget.value })} />
      <Loaded of={found}>
        {(f) =>
          f.results.length === 0 ? (
            <Empty title={text.nav.memories} />
          ) : (
            <ul class="list">
              {f.results.map((m) => (
                <li key={m.namespace + '\n' + m.key}>
                  <a href={to(['memories', m.namespace, m.key])}>
                    <Plain>{m.key}</Plain>
                  </a>
                  <Moment at={m.timestamp} />
                  <Value of={m.value} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  )
}
