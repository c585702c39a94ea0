import { call, written } from '../../call'
import { useLoad } from '../../load'
import { Chip, Moment, Plain, Value } from '../../parts'
import * as text from '../../text'
import { view } from '../../view'

interface Handoffs {
  handoffs: { handoffId?: string; id?: string; fromAgent?: string; toAgent?: string; contextSummary?: string; openItems?: string[]; createdAt?: string; acknowledged?: boolean }[]
}

/** What agents handed over to the next one, and nobody took up. */
export function Handed() {
  const read = useLoad((abort) => call<Handoffs>('memory_get_handoffs', { limit: 10 }, { signal: abort }), [view.branch.value, written.value])
  const waiting = read.value?.handoffs ?? [] // without the family sessions there are none
  if (waiting.length === 0) return null
  return (
    <section class="card sessions-handed">
      <h2>{text.sessions.handoffs}</h2>
      <ul class="list">
        {waiting.map((h, i) => (
          <li key={h.handoffId ?? h.id ?? i}>
            <p class="row quiet">
              {h.fromAgent && <Plain>{h.fromAgent}</Plain>}
              {h.toAgent && (
                <>
                  → <Plain>{h.toAgent}</Plain>
                </>
              )}
              {h.createdAt && <Moment at={h.createdAt} />}
              {h.acknowledged && <Chip tone="good">{text.sessions.taken}</Chip>}
            </p>
            <Value of={h.contextSummary ?? ''} />
            {(h.openItems ?? []).map((item) => (
              <Chip key={item}>
                <Plain>{item}</Plain>
              </Chip>
            ))}
          </li>
        ))}
      </ul>
    </section>
  )
}
