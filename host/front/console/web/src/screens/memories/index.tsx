import { route } from '../../route'
import { Browse } from './browse'
import { Page } from './page'
import './style.css'

export function Screen() {
  const [namespace, key] = route.value.rest
  return namespace !== undefined && key !== undefined ? <Page key={namespace + '\n' + key} namespace={namespace} name={key} /> : <Browse />
}
