import { html } from '../html.js'
import { minutes } from '../model/format.js'

/** @import { CallEvent } from '../model/api.js' */

/**
 * What happened to a call: `ongoing → ended`.
 *
 * @param {{ event: Pick<CallEvent, 'type' | 'data'> }} props
 */
export function Step({ event: { type, data } }) {
  const [, , name = ''] = type.split('.')
  const { from, to, before, after } = data
  if (before !== undefined)
    return html`<span class="step"><b>corrected</b>${corrections(before, after, data.minutes)}</span>`
  const isPlain = from === undefined || from === 'none' || name === 'reappeared'
  return html`<span class="step"
    >${isPlain ? html`<b class=${name}>${name}</b>` : html`${from} → <b class=${to}>${to}</b>`}</span
  >`
}

/**
 * @param {NonNullable<CallEvent['data']['before']>} before
 * @param {CallEvent['data']['after']} after
 * @param {{ audio: number, video: number }} media
 */
function corrections(before, after, media) {
  const status = after === undefined || after.status === before.status ? [] : [`${before.status} → ${after.status}`]
  const changed = /** @type {const} */ (['audio', 'video']).filter((kind) => before.minutes[kind] !== media[kind])
  const texts = changed.map((kind) => `${kind} ${minutes(before.minutes[kind])} → ${minutes(media[kind])} min`)
  return [...status, ...texts].map((text, i) => `${i === 0 ? ': ' : ', '}${text}`).join('')
}
