import type { ComponentType } from 'preact'

/** A screen: the name is the first part of its address, its text in nav, and its icon. */
export interface Screen {
  name: 'memories' | 'time' | 'branches' | 'sessions' | 'graph' | 'families' | 'operator'
  /** Only for the operator. */
  operators?: boolean
  /** Fetched when it is first opened. */
  load: () => Promise<{ Screen: ComponentType }>
}

export const screens: Screen[] = [
  { name: 'memories', load: () => import('./memories') },
  { name: 'time', load: () => import('./time') },
  { name: 'branches', load: () => import('./branches') },
  { name: 'sessions', load: () => import('./sessions') },
  { name: 'graph', load: () => import('./graph') },
  { name: 'families', load: () => import('./families') },
  { name: 'operator', operators: true, load: () => import('./operator') },
]
