import { html } from '../html.js'

/**
 * A part of the page with a heading.
 *
 * @param {{ id: string, title: string, note?: unknown, children?: unknown }} props
 */
export function Section({ id, title, note, children }) {
  return html`<section id=${id} class="card" aria-labelledby=${`${id}-title`}>
    <div class="title">
      <h2 id=${`${id}-title`}>${title}</h2>
      ${note}
    </div>
    ${children}
  </section>`
}

/**
 * Scrolls content that is wider or longer than its place, also by keyboard, so that the page does not scroll sideways.
 *
 * @param {{ label: string, class?: string, children?: unknown }} props
 */
export function Scrollable({ label, class: name = '', children }) {
  return html`<div class=${`wide ${name}`} role="group" aria-label=${label} tabindex="0">${children}</div>`
}
