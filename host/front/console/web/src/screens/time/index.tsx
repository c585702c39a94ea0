import { Empty } from '../../parts'
import { text } from '../../text'

export function Screen() {
  return (
    <>
      <h1>{text.nav.time}</h1>
      <Empty title={text.nav.time} />
    </>
  )
}
