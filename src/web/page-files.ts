import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import serveFiles from '@fastify/static'
import type { FastifyInstance } from 'fastify'

/** The page's libraries: the path that a browser requests, the package, and the file beside the package's main file. */
const VENDOR = [
  { path: '/vendor/preact.js', from: 'preact', file: 'preact.mjs' },
  { path: '/vendor/htm.js', from: 'htm', file: 'htm.module.js' },
  { path: '/vendor/uplot.js', from: 'uplot', file: 'uPlot.esm.js' },
  { path: '/vendor/uplot.css', from: 'uplot', file: 'uPlot.min.css' },
]

/** The folder also has files for the type checker, which are not served. */
const SERVED = /(?:^|\/|\.(?:html|css|m?js|svg))$/

/** Serves the page's files and libraries unchanged: there is no build step. */
export async function pageFiles(app: FastifyInstance): Promise<void> {
  await app.register(serveFiles, {
    root: join(import.meta.dirname, 'page'),
    cacheControl: false,
    // Browsers revalidate each file: files of two versions do not work together.
    setHeaders: (reply) => void reply.setHeader('cache-control', 'no-cache'),
    allowedPath: (path) => SERVED.test(path),
  })
  const { resolve } = createRequire(import.meta.url)
  for (const { path, from, file } of VENDOR) {
    const folder = dirname(resolve(from))
    app.get(path, (_request, reply) => reply.sendFile(file, folder))
  }
}
