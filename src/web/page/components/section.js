import { html } from '../html.js'

/**
 * A part of the page with its heading, by which it is found.
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
