import htm from './vendor/htm.js'
import { h } from './vendor/preact.js'

/** Writes what a component shows as a template; what is put into it is a text or another template, never markup. */
export const html = htm.bind(h)
