import { render } from 'preact'
import { App } from './app'
import { begin } from './session'
import './style.css'

// The page is drawn while the session is asked for.
void begin()
render(<App />, document.getElementById('app')!)
