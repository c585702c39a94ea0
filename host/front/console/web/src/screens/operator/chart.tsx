import * as text from '../../text'

const width = 300
const height = 60

/** A line of numbers over time, with the last and the largest one as text. */
export function Chart({ name, of, show }: { name: string; of: number[]; show: (n: number) => string }) {
  const most = Math.max(...of, 0)
  const x = (i: number) => (of.length < 2 ? width : (i / (of.length - 1)) * width)
  const y = (n: number) => height - 2 - (most ? (n / most) * (height - 6) : 0)
  const line = of.map((n, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(n).toFixed(1)}`).join(' ')
  return (
    <figure class="card chart">
      <figcaption>
        <span>{name}</span> <strong>{of.length ? show(of.at(-1)!) : '–'}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={text.operator.metrics.label(name, show(most))}>
        {of.length > 1 && <path class="area" d={`${line} L${width} ${height} L0 ${height} Z`} />}
        <path class="line" d={line} />
      </svg>
      <small>{text.operator.metrics.most(show(most))}</small>
    </figure>
  )
}
