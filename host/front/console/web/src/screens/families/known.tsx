import { call } from '../../call'
import { useLoad } from '../../load'
import { Chip, Empty, Loaded, Plain } from '../../parts'
import { route, to } from '../../route'
import * as text from '../../text'

const t = text.families

interface Told {
  families: { name: string; description: string; tools: string[] | null; loaded: boolean; missing?: string[]; hooks?: string[] }[]
}

/** What a key may know of families: all, or the one with a name. */
export function Known({ name }: { name?: string }) {
  const told = useLoad((abort) => call<Told>('memory_capabilities', {}, { signal: abort }), [route.value.screen])
  return (
    <>
      {name && (
        <h1>
          <Plain>{name}</Plain>
        </h1>
      )}
      <Loaded of={told}>
        {({ families }) => {
          const shown = name ? families.filter((f) => f.name === name) : families
          if (shown.length === 0) return <Empty title={t.none} hint={t.noneForKey} />
          return (
            <ul class="list">
              {shown.map((f) => (
                <li key={f.name}>
                  <div class="row">
                    <a href={to(['families', f.name])}>
                      <strong>
                        <Plain>{f.name}</Plain>
                      </strong>
                    </a>
                    {f.loaded && <Chip tone="good">{t.inUse}</Chip>}
                    {(f.hooks ?? []).map((h) => (
                      <Chip key={h}>{t.hook(h)}</Chip>
                    ))}
                  </div>
                  <p>
                    <Plain>{f.description}</Plain>
                  </p>
                  {f.missing && <p class="quiet">{t.lacks(f.missing.map((m) => t.power(m)))}</p>}
                  <details open={!!name}>
                    <summary>{t.count.tools(f.tools?.length ?? 0)}</summary>
                    <ul class="names">
                      {(f.tools ?? []).map((tool) => (
                        <li key={tool}>
                          <code>
                            <Plain>{tool}</Plain>
                          </code>
                        </li>
                      ))}
                    </ul>
                  </details>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </>
  )
}
