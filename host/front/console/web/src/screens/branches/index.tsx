import { Empty } from '../../parts'
import { text } from '../../text'

export function Screen() {
  return <Empty title={text.nav.branches} />
}
