import { computed, signal } from '@preact/signals'

/** What the page looks at: the same for all screens, and part of the address, so that a link shows what its sender saw. */
export const view = {
  branch: signal(''), // empty: the default branch
  namespace: signal(''), // empty: that of the session
  moment: signal(''), // RFC 3339, or a version such as v12; empty: now
}

/** True while the page shows the past, where nothing can be changed. */
export const past = computed(() => view.moment.value !== '')

/** The parameters of a read that say where and when. */
export function where(): { namespace?: string; as_of?: string } {
  return {
    ...(view.namespace.value && { namespace: view.namespace.value }),
    ...(view.moment.value && { as_of: view.moment.value }),
  }
}
