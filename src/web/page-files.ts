import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import serveFiles from '@fastify/static'
import type { FastifyInstance } from 'fastify'

/** What the page is made with: the file that a browser asks for, and where its package has it, beside its main file. */
const VENDOR = [
  { path: '/vendor/preact.js', from: 'preact', file: 'preact.mjs' },
  { path: '/vendor/htm.js', from: 'htm', file: 'htm.module.js' },
  { path: '/vendor/uplot.js', from: 'uplot', file: 'uPlot.esm.js' },
  { path: '/vendor/uplot.css', from: 'uplot', file: 'uPlot.min.css' },
]

/** The folder also has what only the compiler reads. */
const SERVED = /(?:^|\/|\.(?:html|css|m?js|svg))$/

/** Serves the page as its files are, and the libraries it uses as their packages have them: nothing is built. */
export async function pageFiles(app: FastifyInstance): Promise<void> {
  await app.register(serveFiles, {
    root: join(import.meta.dirname, 'page'),
    cacheControl: false,
    // Files of two versions do not go together: a browser asks each time whether its own is still the right one.
    setHeaders: (reply) => void reply.setHeader('cache-control', 'no-cache'),
    allowedPath: (path) => SERVED.test(path),
  })
  const { resolve } = createRequire(import.meta.url)
  for (const { path, from, file } of VENDOR) {
    const folder = dirname(resolve(from))
    app.get(path, (_request, reply) => reply.sendFile(file, folder))
  }
}
