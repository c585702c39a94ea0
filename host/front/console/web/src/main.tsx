import { render } from 'preact'
import { overHTTP } from './api'
import { App } from './app'
import { callThrough } from './call'
import { begin } from './session'
import './style.css'

callThrough(overHTTP)

// The page is drawn while the session is asked for.
void begin()
render(<App />, document.getElementById('app')!)
