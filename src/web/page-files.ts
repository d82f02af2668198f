import { existsSync } from 'node:fs'
import { join } from 'node:path'
import serveFiles from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { pageLibraries } from './page-libraries.ts'

const PAGE = join(import.meta.dirname, 'page')

/** In a clone the folder also has files for the type checker, which are not served. */
const SERVED = /(?:^|\/|\.(?:html|css|m?js|svg))$/

/** Serves the page's files and libraries unchanged. */
export async function pageFiles(app: FastifyInstance): Promise<void> {
  await app.register(serveFiles, {
    root: PAGE,
    cacheControl: false,
    // Browsers revalidate each file: files of two versions do not work together.
    setHeaders: (reply) => void reply.setHeader('cache-control', 'no-cache'),
    allowedPath: (path) => SERVED.test(path),
  })
  // The built program has its libraries in the folder of the page.
  if (existsSync(join(PAGE, 'vendor/preact.js'))) return
  for (const { path, folder, file } of pageLibraries()) {
    app.get(`/${path}`, (_request, reply) => reply.sendFile(file, folder))
  }
}
