import htm from './vendor/htm.js'
import { h } from './vendor/preact.js'

/** The template tag of components. It inserts values as text or as another template, never as markup. */
export const html = htm.bind(h)
