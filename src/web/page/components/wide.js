import { html } from '../html.js'

/**
 * What may be wider or longer than its place: it scrolls by itself, with the keyboard too, and the page does not.
 *
 * @param {{ label: string, class?: string, children?: unknown }} props
 */
export function Wide({ label, class: name = '', children }) {
  return html`<div class=${`wide ${name}`} role="region" aria-label=${label} tabindex="0">${children}</div>`
}
