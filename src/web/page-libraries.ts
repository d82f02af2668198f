import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** The page's libraries: the path that a browser requests, the package, and the file beside the package's main file. */
const LIBRARIES = [
  { path: 'vendor/preact.js', from: 'preact', file: 'preact.mjs' },
  { path: 'vendor/htm.js', from: 'htm', file: 'htm.module.js' },
  { path: 'vendor/uplot.js', from: 'uplot', file: 'uPlot.esm.js' },
  { path: 'vendor/uplot.css', from: 'uplot', file: 'uPlot.min.css' },
]

/** A file of a library: its path on the page, and where it is in node_modules. */
export type PageLibrary = { path: string; folder: string; file: string }

/** Finds the page's libraries in node_modules. */
export function pageLibraries(): PageLibrary[] {
  const { resolve } = createRequire(import.meta.url)
  return LIBRARIES.map(({ path, from, file }) => ({ path, folder: dirname(resolve(from)), file }))
}
