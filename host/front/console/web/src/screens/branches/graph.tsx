import { Plain } from '../../parts'
import { visible } from '../../parts/value'
import { to } from '../../route'
import * as text from '../../text'
import { drawn, proposer, type Branch, type Lane, type Merge } from './model'

const t = text.branches
const row = 38 // px, as a lane's label is high
const column = 34 // px
const margin = 16 // px, at the left and right of the lanes
const narrow = 5 // a dot's radius, px

const x = (n: number) => margin + n * column
const y = (n: number) => row / 2 + n * row

/** Branches as lines over time: each leaves its parent where it was forked, and joins a branch where it was merged. */
export function Graph({ branches, merges, here }: { branches: Branch[]; merges: Merge[]; here: string }) {
  const drawing = drawn(branches, merges)
  const width = x(drawing.columns.length - 1) + margin
  const height = drawing.lanes.length * row
  return (
    <div class="lanes card">
      <ul class="lane-names">
        {drawing.lanes.map(({ branch }) => (
          <li key={branch.name + branch.created} class={branch.name === here ? 'here' : ''}>
            {branch.deleted ? (
              <s>
                <Plain>{branch.name}</Plain>
              </s>
            ) : (
              <a href={to(['branches', branch.name])} title={visible(branch.name)}>
                <Plain>{branch.name}</Plain>
              </a>
            )}
          </li>
        ))}
      </ul>
      <div class="lane-lines">
        <svg width={width} height={height} role="group" aria-label={t.graph(drawing.lanes.length, drawing.joins.length)}>
          {drawing.lanes.map((l) => (
            <Line key={l.row} lane={l} />
          ))}
          {drawing.joins.map((j, i) => (
            <a key={i} href={to(['branches', j.merge.target])} class={`join tone${j.sourceRow === undefined ? 4 : j.sourceRow % 6}`} aria-label={joined(j.merge)}>
              <title>{joined(j.merge)}</title>
              <path class="merge" d={bend(x(j.column) - column * 0.7, j.sourceRow === undefined ? y(j.row) + row * 0.45 : y(j.sourceRow), x(j.column), y(j.row))} />
              <rect x={x(j.column) - narrow} y={y(j.row) - narrow} width={2 * narrow} height={2 * narrow} transform={`rotate(45 ${x(j.column)} ${y(j.row)})`} />
            </a>
          ))}
        </svg>
      </div>
    </div>
  )
}

function Line({ lane }: { lane: Lane }) {
  const at = y(lane.row)
  const kind = lane.branch.deleted ? 'gone' : proposer(lane.branch.name) ? 'proposed' : ''
  return (
    <g class={`lane tone${lane.row % 6} ${kind}`}>
      {lane.parentRow !== undefined && <path d={bend(x(lane.from) - column * 0.7, y(lane.parentRow), x(lane.from), at)} />}
      <path d={`M${x(lane.from)} ${at}H${x(lane.to)}`} />
      <circle cx={x(lane.from)} cy={at} r={narrow}>
        <title>{t.made(visible(lane.branch.name), moment(lane.branch.created))}</title>
      </circle>
    </g>
  )
}

/** A curve that leaves and arrives level. */
function bend(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}

const moment = (at: string) => new Date(at).toLocaleString()
const joined = (m: Merge) => t.mergeAt(visible(m.source), visible(m.target), moment(m.timestamp))
