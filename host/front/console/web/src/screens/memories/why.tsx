import { Plain } from '../../parts'
import * as text from '../../text'
import type { Why } from './search'

const words = text.memories

/** The parts of a score as bars: the words that match, and how much meaning counts beside them. */
export function Bars({ why, score }: { why: Why; score: number }) {
  const terms = [...(why.terms ?? [])].sort((a, b) => b.score - a.score)
  const lexical = terms.reduce((n, t) => n + t.score, 0)
  const meaning = why.meaning_weight ?? 0
  const most = Math.max(...terms.map((t) => t.score), 0.0001)
  return (
    <div class="why">
      <p class="quiet">{words.score(score)}</p>
      <table>
        <caption class="unseen">{words.why}</caption>
        <tbody>
          {terms.map((t) => (
            <Bar key={t.term} name={t.term} of={t.score / most} value={t.score} hint={words.term(t.frequency, t.documents, why.documents)} />
          ))}
          {meaning > 0 && <Bar name={words.meaning} of={meaning} value={meaning} hint={words.meaningHint(why.features?.['semantic'])} other />}
        </tbody>
      </table>
      {lexical > 0 && <p class="quiet">{words.length(why.length, why.average_length)}</p>}
      <Inputs features={why.features ?? {}} />
    </div>
  )
}

function Bar({ name, of, value, hint, other }: { name: string; of: number; value: number; hint: string; other?: boolean }) {
  return (
    <tr>
      <th scope="row">
        <Plain>{name}</Plain>
      </th>
      <td>
        <svg class={other ? 'bar other' : 'bar'} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect width={Math.max(1, Math.min(100, of * 100))} height="8" />
        </svg>
      </td>
      <td class="number">{value.toFixed(2)}</td>
      <td class="quiet">{hint}</td>
    </tr>
  )
}

/** What families that rank are told beside the words. */
function Inputs({ features }: { features: Record<string, number> }) {
  const told = Object.entries(words.features).filter(([name]) => features[name] !== undefined)
  if (told.length === 0) return null
  return (
    <p class="quiet">
      {told.map(([name, say]) => say(features[name]!)).join(' · ')}
    </p>
  )
}
